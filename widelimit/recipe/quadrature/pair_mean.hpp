#pragma once

#include "widelimit/recipe/quadrature/gaussian_sample.hpp"

namespace widelimit {

/// E[φ(u)φ(v)] and E[φ'(u)φ'(v)] by the definition, for u, v centred Gaussian of the samples' deviations with
/// correlation ±(1 − t): `t` carries the digits of nearly equal or opposite inputs. Both rules below resolve whatever
/// the pieces of φ resolve; what they leave is rounding.
///
/// t ≥ 1/25: the density of v given u is smooth on the panels of both samples, so their tensor product integrates it.
/// O(nodes²), about 40,000 exponentials for smooth φ.
///
/// Smaller t: u = s(αm + βd), v = ±s'(αm − βd) with α² = 1 − t/2, β² = t/2 and m, d independent standard normals.
/// Panels over m end where pieces end and are refined to the scale β around edges, where the integral over d changes;
/// panels over d end where u or v cross from piece to piece, and where neither does, a Gauss–Hermite rule is exact.
/// O(10⁴) evaluations of pieces.
struct PairMean {
  double sigma = 0.0;  ///< E[φ(u)φ(v)]
  double dot = 0.0;    ///< E[φ'(u)φ'(v)]
  /// 1 − |ρ_new|, ρ_new = E[φ(u)φ(v)]/√(E[φ(u)²]E[φ(v)²]), for small t from E[(φ(u)/r ∓ φ(v)/r')²]/2, which keeps its
  /// digits.
  double apart = 0.0;
};
[[nodiscard]] PairMean pair_mean(const GaussianSample& first, const GaussianSample& second, double t, bool positive);

}  // namespace widelimit
