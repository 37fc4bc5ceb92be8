#pragma once

#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// Error that one dual adds to a kernel, and amplification of the error of its input; the maximum over all positions.
struct DualError {
  double value = 0.0;         ///< of E[φφ], relative to the geometric mean of both second moments
  double slope = 0.0;         ///< the same for E[φ'φ']
  double growth = 0.0;        ///< |d log E[φ²]/d log q|
  double slope_growth = 0.0;  ///< |d log E[φ'²]/d log q|

  void add(const DualError& other);
};

/// Errors of the dual steps of a recipe, in order.
using DualErrors = std::vector<DualError>;

/// Returns true if a dual has an error of its own, so that growth matters.
[[nodiscard]] bool has_errors(const DualErrors& duals);
/// Returns the growth of a closed form by a finite difference.
[[nodiscard]] DualError closed_form_growth(const std::function<DualValue<long double>(long double q)>& self,
                                           long double q);

/// Bounds the quadrature error in the outputs of a recipe, propagated from step to step to first order: |ΔΣ| and |ΔΘ_m|
/// relative to the geometric mean of the diagonal entries of both samples (where pooling or attention sum over
/// positions, relative to those without cancellation between positions).
///
/// A dual with an error is the exact dual of a nearby function, so the next layer receives a relative error e of the
/// variances and of 1 − |ρ|. A dual passes on max(1, growth)·e: the coefficients of Mehler's series for equal variances
/// are nonnegative, so 1 − E[φφ]/E[φ²] is a concave function of 1 − ρ that is 0 at 0, and such functions do not amplify
/// relative errors. E[φ'φ'] changes by (1 + slope_growth)·e.
[[nodiscard]] double quadrature_error(const Recipe& recipe, const DualErrors& duals);

}  // namespace widelimit
