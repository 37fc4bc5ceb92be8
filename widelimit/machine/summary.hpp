#pragma once

#include "widelimit/base/types.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace widelimit {

/// How a fit ended. Everything but `converged` is told to the user with its message: a numerical ending is data, not an
/// exception.
enum class Ending {
  converged,
  iteration_limit,        ///< the answer is the best so far
  not_positive_definite,  ///< the Gram matrix does not allow this machine; the message names the ridge that would
  not_separable,          ///< no hyperplane separates the classes: a hard margin does not exist
  diverged,               ///< training grew without bound; earlier steps are reported
};
[[nodiscard]] const char* text(Ending ending);

/// (primal − dual)/max(|primal|, |dual|), or 0 where both are.
[[nodiscard]] double relative_gap(double primal, double dual);

/// Report of a solver. Empty values do not exist for that machine.
struct Summary {
  Ending ending = Ending::converged;
  std::string message;              ///< empty where converged without remark; else what happened and what to do
  std::string method;               ///< "Cholesky, float64", "decomposition, second-order working sets"
  std::optional<double> primal;     ///< λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ), summed over outputs
  std::optional<double> dual;       ///< a lower bound of the least objective, all rounding counted
  std::optional<double> gap;        ///< (primal − dual)/max(|primal|, |dual|), or 0 where both are
  std::optional<double> gradient;   ///< norm of the gradient or residual relative to that at 0
  std::optional<double> condition;  ///< estimate of the condition number of what was factored
  Index iterations = 0;
  double seconds = 0;
  std::size_t memory = 0;  ///< bytes the solver held at its peak, besides the Gram matrix

  [[nodiscard]] bool converged() const { return ending == Ending::converged; }
};

}  // namespace widelimit
