#pragma once

#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// What one dual adds to the errors of a kernel, and what it makes of those it receives; the worst over all places.
struct DualError {
  double value = 0.0;         ///< of E[φφ], relative to the root of the product of both second moments
  double slope = 0.0;         ///< of E[φ'φ'], alike
  double growth = 0.0;        ///< |d log E[φ²]/d log q|
  double slope_growth = 0.0;  ///< |d log E[φ'²]/d log q|

  void add(const DualError& other);
};

/// The errors of the dual steps of a recipe in their order.
using DualErrors = std::vector<DualError>;

/// True where a dual so far had an error of its own, so that growth counts.
[[nodiscard]] bool has_errors(const DualErrors& duals);
/// Growth of a closed form, by a difference.
[[nodiscard]] DualError closed_form_growth(const std::function<DualValue<long double>(long double q)>& self,
                                           long double q);

/// What quadrature leaves in the outputs of a recipe, followed from step to step to first order: bounds of |ΔΣ| and
/// |ΔΘ_m| relative to the roots of the products of both samples' own entries (where pooling or attention add positions
/// up, to those without cancellation between positions).
///
/// An error of a dual is that of a nearby function, so the next layer receives a relative error e of the variances and
/// of 1 − |ρ|. A dual passes on max(1, growth)·e: the coefficients of Mehler's series for equal variances are not
/// negative, so 1 − E[φφ]/E[φ²] is a concave function of 1 − ρ that is 0 at 0, and such functions do not enlarge
/// relative errors. E[φ'φ'] moves by (1 + slope_growth)·e.
[[nodiscard]] double quadrature_error(const Recipe& recipe, const DualErrors& duals);

}  // namespace widelimit
