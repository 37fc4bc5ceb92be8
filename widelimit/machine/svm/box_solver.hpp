#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/summary.hpp"
#include "widelimit/machine/svm/box_problem.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

struct BoxOptions {
  double tolerance = 1e-6;                    ///< relative duality gap to reach
  Index max_iterations = 0;                   ///< working sets; 0 for the larger of 10⁷ and 100 per variable
  std::size_t memory = std::size_t{1} << 30;  ///< memory limit in bytes for columns of active variables
  Progress* progress = nullptr;
};

/// Start: feasible coefficients and their product Ka; empty means 0. If both belong to a previous solution, the error
/// of the product can be passed too, so that it is not recomputed.
struct BoxStart {
  std::span<const double> a;
  std::span<const double> product;
  std::optional<ProductError> error = {};
};

struct BoxSolution {
  std::vector<double> a;
  std::vector<double> product;  ///< Ka
  ProductError error;           ///< of the product, without its lengths
  double bias = 0;
  Objectives objectives;  ///< at a, b, rounding included; undefined if the ending is not_positive_definite
  Ending ending = Ending::converged;
  bool rounded = false;  ///< not converged because of the precision of float64
  Index iterations = 0;  ///< working sets, exact steps and interior point iterations
  std::size_t memory = 0;
  Index rank = 0;         ///< of the factor of K used by the interior point; 0 if none was used
  bool interior = false;  ///< the coefficients are those of the interior point
};

/// Solves box problems on one Gram matrix, or on the rows and columns of some samples, and caches columns between
/// problems. The caller guarantees that the matrix is positive semi-definite; if the solver meets a direction of
/// negative curvature, it ends as `not_positive_definite`.
///
/// Decomposition: working sets of one or two variables with the largest second-order gain; settled variables are
/// removed (shrinking) until their gradients are recomputed; occasionally exact minimisation over the free variables,
/// if it costs as much as the steps since. Terminates when the duality gap, from a recomputed product Ka with its
/// rounding included, is below the tolerance; if rounding alone keeps it above, products use doubled precision from
/// then on. If the steps have taken more time than an interior point method would (interior_point.hpp), since K has low
/// rank and the bounds are wide, the interior point method takes over; its coefficients are verified in the same way,
/// and if rounding keeps them above the tolerance, working sets continue from the better ones. Coefficients satisfy
/// their bounds exactly. Without bounds the problem may have no minimum; it then ends as `not_separable` with a proof:
/// for any β with all margins ≥ 1, ‖β‖ ≥ Σ|vᵢ|/√(vᵀKv) for any v of the signs of a, so that margins 1/‖β‖ are below the
/// rounding error of K.
class BoxSolver {
 public:
  explicit BoxSolver(const GramMatrix& gram, std::vector<Index> samples = {},
                     std::size_t memory = std::size_t{1} << 30);
  ~BoxSolver();
  BoxSolver(BoxSolver&&) noexcept;
  BoxSolver& operator=(BoxSolver&&) noexcept;

  [[nodiscard]] BoxSolution solve(const BoxProblem& problem, const BoxOptions& options = {}, BoxStart start = {});

  struct Worker;  ///< implementation for one floating-point type

 private:
  std::unique_ptr<Worker> worker_;
};

}  // namespace widelimit
