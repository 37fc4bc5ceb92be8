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
  double tolerance = 1e-6;                  ///< relative duality gap to reach
  Index max_iterations = 0;                 ///< working sets; 0 for the larger of 10⁷ and 100 per variable
  std::size_t room = std::size_t{1} << 30;  ///< bytes for columns of the variables that still move
  Progress* progress = nullptr;
};

/// Where to start: feasible coefficients and their product Ka; nothing means 0. Where both are those of a solution, its
/// error of the product may be given too, so that it need not be recomputed.
struct BoxStart {
  std::span<const double> a;
  std::span<const double> product;
  std::optional<ProductError> error = {};
};

struct BoxSolution {
  std::vector<double> a;
  std::vector<double> product;  ///< Ka
  ProductError error;           ///< of it, without its lengths
  double bias = 0;
  Objectives objectives;  ///< at a, b, with all rounding counted; nothing where the ending is not_positive_definite
  Ending ending = Ending::converged;
  bool rounded = false;  ///< ended without converging since float64 holds no better coefficients
  Index iterations = 0;  ///< working sets and exact steps, and those of an interior point
  std::size_t memory = 0;
  Index rank = 0;         ///< of the factor of K that an interior point used; 0 where there was none
  bool interior = false;  ///< the coefficients are those of the interior point; else working sets went on from there
};

/// Solves box problems on one Gram matrix, or on the rows and columns of some of its samples, whose columns it keeps
/// from one problem to the next. The matrix is positive semi-definite, by who calls; a direction of negative curvature
/// that the solver meets all the same ends it as `not_positive_definite`.
///
/// Decomposition: working sets of one or two variables with the largest second-order gain; settled variables are left
/// out (shrinking) until their gradients are computed afresh; now and then the exact minimum over the free variables,
/// where its cost is that of the steps since. Ends when the duality gap, from a product Ka computed afresh and with its
/// rounding counted, is below the tolerance; where rounding alone keeps it above, products are made in twice the
/// precision from then on. Where the steps have taken more time than an interior point would (interior_point.hpp),
/// since K has few dimensions and the bounds are wide, that replaces them; its coefficients are proved in the same way,
/// and where rounding keeps them from the tolerance, working sets go on from the better ones. Coefficients are within
/// their bounds exactly. Without bounds the problem may have no minimum; then `not_separable`, on proof: for any β with
/// all margins ≥ 1, ‖β‖ ≥ Σ|vᵢ|/√(vᵀKv) for any v of the signs of a, so that margins 1/‖β‖ are below the rounding of K.
class BoxSolver {
 public:
  explicit BoxSolver(const GramMatrix& gram, std::vector<Index> samples = {}, std::size_t room = std::size_t{1} << 30);
  ~BoxSolver();
  BoxSolver(BoxSolver&&) noexcept;
  BoxSolver& operator=(BoxSolver&&) noexcept;

  [[nodiscard]] BoxSolution solve(const BoxProblem& problem, const BoxOptions& options = {}, BoxStart start = {});

  struct Worker;  ///< the same for one type of numbers

 private:
  std::unique_ptr<Worker> worker_;
};

}  // namespace widelimit
