#pragma once

#include "widelimit/base/types.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// Termination status of a fit. Every status but `converged` has a message: numerical failures are reported, not
/// thrown.
enum class Ending {
  converged,
  iteration_limit,        ///< the result is the best iterate
  not_positive_definite,  ///< the Gram matrix is indefinite or singular; the message suggests a remedy
  not_separable,          ///< no hyperplane separates the classes, so no hard margin exists
  diverged,               ///< training diverged; earlier steps are reported
};
[[nodiscard]] const char* text(Ending ending);

/// Returns (primal − dual)/max(|primal|, |dual|), or 0 if both are 0.
[[nodiscard]] double relative_gap(double primal, double dual);

/// Report of a solver. Optional values are empty if the machine does not define them.
struct Summary {
  Ending ending = Ending::converged;
  std::string message;              ///< empty if converged without remark; else the reason and a remedy
  std::string method;               ///< "Cholesky, float64", "decomposition, second-order working sets"
  std::optional<double> primal;     ///< λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ), summed over outputs
  std::optional<double> dual;       ///< a lower bound of the minimum, rounding included
  std::optional<double> gap;        ///< (primal − dual)/max(|primal|, |dual|), or 0 if both are 0
  std::optional<double> gradient;   ///< norm of gradient or residual relative to that at 0
  std::optional<double> condition;  ///< estimated condition number of the factorised matrix
  Index iterations = 0;
  double seconds = 0;
  std::size_t memory = 0;  ///< peak bytes of the solver, excluding the Gram matrix

  [[nodiscard]] bool converged() const { return ending == Ending::converged; }
};

/// Combines the summaries of independent problems: sums of objectives, iterations and memory, all methods, the largest
/// gap, and the worst ending with its message. An objective is empty if one part lacks it.
[[nodiscard]] Summary combined(std::span<const Summary> parts);

}  // namespace widelimit
