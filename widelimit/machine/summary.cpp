#include "widelimit/machine/summary.hpp"

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

}  // namespace widelimit
