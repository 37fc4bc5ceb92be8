#include "widelimit/machine/summary.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

const char* text(Ending ending) {
  switch (ending) {
    case Ending::converged:
      return "converged";
    case Ending::iteration_limit:
      return "iteration limit";
    case Ending::not_positive_definite:
      return "not positive definite";
    case Ending::not_separable:
      return "not separable";
    case Ending::diverged:
      return "diverged";
  }
  return "";
}

double relative_gap(double primal, double dual) {
  const double size = std::max(std::fabs(primal), std::fabs(dual));
  return size > 0 ? (primal - dual) / size : 0;
}

}  // namespace widelimit
