#include "widelimit/certificate/cone/paper_sides.hpp"
#include "widelimit/certificate/cone/side_bound.hpp"

namespace widelimit {

std::unique_ptr<LowerBound> make_paper_bound(const CertificateProblem& problem) {
  return std::make_unique<SideBound>(problem, Ranges::Of::published, std::make_unique<PaperSides>(problem.kernel));
}

}  // namespace widelimit
