#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// Bound of an unbounded coefficient.
inline constexpr double no_bound = std::numeric_limits<double>::infinity();

/// Dual of a kernel machine in the coefficients a of its decision function g = Ka + b:
///
///   minimise  D(a) = ½ aᵀ(K + diag ridge)a + pᵀa + ε‖a‖₁   subject to lowerᵢ ≤ aᵢ ≤ upperᵢ and, with a bias, Σaᵢ = 0.
///
/// Uses signed coefficients instead of the usual multipliers: an SVM has p = −y and the box between 0 and yᵢCᵢ, support
/// vector regression p = −y and |aᵢ| ≤ Cᵢ, and neither needs another matrix than K or twice as many variables. Bounds
/// may be infinite, and the box contains 0. Finite bounds and the ridge are accurate to 2u.
struct BoxProblem {
  std::vector<double> linear;  ///< p
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> ridge;  ///< empty for none
  double epsilon = 0;
  bool equality = false;
  bool classifies = false;  ///< p = −y with y = ±1: samples with y·g ≥ 1 have no loss

  [[nodiscard]] Index size() const { return std::ssize(linear); }
  [[nodiscard]] double ridge_at(Index i) const { return ridge.empty() ? 0 : ridge[static_cast<std::size_t>(i)]; }
};

/// Primal value and the lower bound proved by the coefficients, for β = Σ aᵢΦ(xᵢ).
struct Objectives {
  double primal = 0;
  double dual = 0;
  /// No sample has a loss, including rounding. The objectives then depend on no nonzero bound and remain valid if the
  /// box is enlarged. Nominally, the primal is that of a classifier scaled to margins of 1.
  bool lossless = false;
  /// Returns relative_gap, or infinity if the primal is infinite.
  [[nodiscard]] double gap() const;
};

/// Returns the primal objective P at (a, b), given Ka, and the lower bound P − G of all machines, where
///
///     G = ½eᵀKe + Σᵢ [φᵢ(āᵢ) + āᵢrᵢ + φᵢ*(−rᵢ)],   r = Ka + b + p,   φᵢ(a) = ε|a| + ½ridgeᵢa² in the box,
///
/// equals P + D at a feasible ā = a + e: a scaled down by the rounding of the bounds and, if Σaᵢ is not exactly 0, the
/// larger of its positive and negative parts scaled down further. The loss of a sample is φᵢ*(−rᵢ). All terms of G are
/// nonnegative (Fenchel–Young), so there is no cancellation, and convex in rᵢ, so the maximum over all (Ka)ᵢ within
/// `error` is at an end point: G and the bound include that error and the rounding of this function
/// [docs/theory/machines.md]. Without `error` the values are nominal: rounding is not included, and a separating
/// classifier may be scaled to margins of 1 if that is better. If the box is infinite and there is no ridge, losses are
/// 0 or infinite. O(n).
[[nodiscard]] Objectives objectives(const BoxProblem& problem, std::span<const double> a,
                                    std::span<const double> product, double bias, const ProductError& error = {});

/// Returns the smallest margin yᵢ((Ka)ᵢ + b) of the samples with a nonempty box, y = −p, less what `error` may hide.
[[nodiscard]] double least_margin(const BoxProblem& problem, std::span<const double> product, double bias,
                                  const ProductError& error = {});

}  // namespace widelimit
