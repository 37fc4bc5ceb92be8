#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/machine/gram/product_error.hpp"

#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// The bound of a coefficient that has none.
inline constexpr double no_bound = std::numeric_limits<double>::infinity();

/// The dual of a kernel machine in the coefficients a of its decision function g = Ka + b:
///
///   minimise  D(a) = ½ aᵀ(K + diag ridge)a + pᵀa + ε‖a‖₁   where lowerᵢ ≤ aᵢ ≤ upperᵢ and, with a bias, Σaᵢ = 0.
///
/// Signed coefficients instead of the textbook's multipliers: an SVM has p = −y and the box between 0 and yᵢCᵢ, support
/// vector regression p = −y and |aᵢ| ≤ Cᵢ, and neither needs a matrix other than K nor twice as many variables. Both
/// bounds may be infinite, and 0 lies between them. Finite bounds and the ridge are right to 2u.
struct BoxProblem {
  std::vector<double> linear;  ///< p
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> ridge;  ///< empty for none
  double epsilon = 0;
  bool equality = false;
  bool classifies = false;  ///< p = −y with y = ±1: no sample with y·g ≥ 1 costs anything

  [[nodiscard]] Index size() const { return std::ssize(linear); }
  [[nodiscard]] double ridge_at(Index i) const { return ridge.empty() ? 0 : ridge[static_cast<std::size_t>(i)]; }
};

/// Value of a machine and the lower bound that its coefficients prove, for β = Σ aᵢΦ(xᵢ).
struct Objectives {
  double primal = 0;
  double dual = 0;
  /// No sample has a loss, whatever was rounded. No term of either objective then depends on a bound that is not 0, and
  /// the same numbers hold wherever the box is wider. Nominally, the primal is that of a classifier scaled to margins
  /// of 1.
  bool lossless = false;
  /// relative_gap, infinite where the primal is.
  [[nodiscard]] double gap() const;
};

/// Primal objective P at (a, b), given Ka, and the lower bound P − G of all machines, where
///
///     G = ½eᵀKe + Σᵢ [φᵢ(āᵢ) + āᵢrᵢ + φᵢ*(−rᵢ)],   r = Ka + b + p,   φᵢ(a) = ε|a| + ½ridgeᵢa² in the box,
///
/// is P + D at a feasible ā = a + e: a, scaled down by what bounds are rounded and, where Σaᵢ is not exactly 0, the
/// larger of its two sides by more. The loss of a sample is φᵢ*(−rᵢ). No term of G is negative (Fenchel and Young), so
/// that nothing cancels, and each is convex in rᵢ, so that its largest value for all (Ka)ᵢ within `error` is at an end:
/// G and the bound count that error and the rounding here [docs/theory/machines.md]. Without an error the numbers are
/// nominal: their rounding is not counted, and a classifier that separates may be scaled to margins of 1 where that is
/// better. Where the box is infinite and there is no ridge, losses are 0 or infinite.  O(n).
[[nodiscard]] Objectives objectives(const BoxProblem& problem, std::span<const double> a,
                                    std::span<const double> product, double bias, const ProductError& error = {});

/// The least yᵢ((Ka)ᵢ + b) of samples that take part, y = −p, or less by what `error` may hide.
[[nodiscard]] double least_margin(const BoxProblem& problem, std::span<const double> product, double bias,
                                  const ProductError& error = {});

}  // namespace widelimit
