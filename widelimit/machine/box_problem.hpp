#pragma once

#include "widelimit/base/types.hpp"

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
/// bounds may be infinite, and 0 lies between them.
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
  double scale = 1;  ///< the primal is that of scale·(β, b)
  /// (primal − dual)/max(|primal|, |dual|), or 0 where both are.
  [[nodiscard]] double gap() const;
};

/// Primal and dual objective at a, given Ka and b. The loss of sample i is the conjugate of its part of D at
/// r = (Ka)ᵢ + b + pᵢ:  max over a in the box of −ar − ε|a| − ½ridge·a². Where the box is infinite and there is no
/// ridge, all losses must be 0: a, b are first scaled so that they are, which needs every margin to be positive, and
/// the primal is infinite otherwise. O(n).
[[nodiscard]] Objectives objectives(const BoxProblem& problem, std::span<const double> a,
                                    std::span<const double> product, double bias);

}  // namespace widelimit
