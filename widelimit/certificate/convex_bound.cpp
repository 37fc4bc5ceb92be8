#include "widelimit/certificate/lower_bound.hpp"

namespace widelimit {

std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem) {
  return make_interval_bound(problem);
}

}  // namespace widelimit
