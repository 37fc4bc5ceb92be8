#include "widelimit/certificate/interval_sides.hpp"
#include "widelimit/certificate/side_bound.hpp"

namespace widelimit {

std::unique_ptr<LowerBound> make_interval_bound(const CertificateProblem& problem) {
  return std::make_unique<SideBound>(problem, Ranges::Of::ball, std::make_unique<IntervalSides>(problem.kernel));
}

}  // namespace widelimit
