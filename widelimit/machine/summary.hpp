#pragma once

#include "widelimit/base/types.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// How a fit ended. Every ending but `converged` has a message for the user: a numerical failure is data, not an
/// exception.
enum class Ending {
  converged,
  iteration_limit,        ///< the result is the best iterate
  not_positive_definite,  ///< of the Gram matrix; the message suggests a ridge
  not_separable,          ///< no hyperplane separates the classes: a hard margin does not exist
  diverged,               ///< training grew without bound; earlier steps are reported
};
[[nodiscard]] const char* text(Ending ending);

/// (primal − dual)/max(|primal|, |dual|), or 0 where both are.
[[nodiscard]] double relative_gap(double primal, double dual);

/// Report of a solver. Empty values do not exist for that machine.
struct Summary {
  Ending ending = Ending::converged;
  std::string message;              ///< empty where converged without remark; else the reason and a remedy
  std::string method;               ///< "Cholesky, float64", "decomposition, second-order working sets"
  std::optional<double> primal;     ///< λ/2‖β‖² + Σ wᵢ l(g(xᵢ), yᵢ), summed over outputs
  std::optional<double> dual;       ///< a lower bound of the minimum, all rounding included
  std::optional<double> gap;        ///< (primal − dual)/max(|primal|, |dual|), or 0 where both are
  std::optional<double> gradient;   ///< norm of the gradient or residual relative to that at 0
  std::optional<double> condition;  ///< estimate of the condition number of the factored matrix
  Index iterations = 0;
  double seconds = 0;
  std::size_t memory = 0;  ///< peak bytes of the solver, besides the Gram matrix

  [[nodiscard]] bool converged() const { return ending == Ending::converged; }
};

/// One Summary for problems solved side by side: objectives, iterations and memory added, every method, the largest
/// gap, and the ending and message of the worst. An objective that one of them lacks, the whole lacks.
[[nodiscard]] Summary combined(std::span<const Summary> parts);

}  // namespace widelimit
