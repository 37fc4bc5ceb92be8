#include "widelimit/certificate/cone/side_bound.hpp"
#include "widelimit/certificate/interval/interval_sides.hpp"

namespace widelimit {

std::unique_ptr<LowerBound> make_interval_bound(const CertificateProblem& problem) {
  return std::make_unique<SideBound>(problem, Ranges::Of::ball, std::make_unique<IntervalSides>(problem.kernel));
}

}  // namespace widelimit
