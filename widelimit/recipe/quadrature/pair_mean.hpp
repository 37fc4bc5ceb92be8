#pragma once

#include "widelimit/recipe/quadrature/gaussian_sample.hpp"

namespace widelimit {

/// E[φ(u)φ(v)] and E[φ'(u)φ'(v)] by numerical integration, for u, v centred Gaussian with the deviations of the samples
/// and correlation ±(1 − t); `t` keeps the accuracy for nearly equal or opposite inputs. Both rules below are accurate
/// to rounding if the pieces resolve φ.
///
/// t ≥ 1/25: the density of v given u is smooth on the panels of both samples, and their tensor product integrates it.
/// O(nodes²), about 40,000 exponentials for smooth φ.
///
/// Smaller t: u = s(αm + βd), v = ±s'(αm − βd) with α² = 1 − t/2, β² = t/2 and m, d independent standard normals.
/// Panels over m end at the boundaries of pieces and are refined to the scale β around edges, where the integral over d
/// varies; panels over d end where u or v crosses the boundary of a piece; without a crossing, a Gauss–Hermite rule is
/// exact. O(10⁴) evaluations of pieces.
struct PairMean {
  double sigma = 0.0;  ///< E[φ(u)φ(v)]
  double dot = 0.0;    ///< E[φ'(u)φ'(v)]
  /// 1 − |ρ_new|, ρ_new = E[φ(u)φ(v)]/√(E[φ(u)²]E[φ(v)²]); for small t computed as E[(φ(u)/r ∓ φ(v)/r')²]/2, without
  /// cancellation.
  double apart = 0.0;
};
[[nodiscard]] PairMean pair_mean(const GaussianSample& first, const GaussianSample& second, double t, bool positive);

}  // namespace widelimit
