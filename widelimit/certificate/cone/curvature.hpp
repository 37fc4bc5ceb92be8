#pragma once

#include "widelimit/certificate/cone/cone_kernel.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// How far a cosine may go, and the tangent point between.
struct CosineRange {
  double low = 0;
  double tangent = 0;
  double high = 0;
};

/// Bounds of C(u) = (κ(u) − κ(t) − κ'(t)(u − t))/(u − t)² for all u of a range, t its tangent point.
struct Curvature {
  double low = 0;
  double high = 0;
};

/// κ and κ' at the tangent points, as computed, and C's bounds, rounding counted in.
///
/// C(u) is ∫₀¹(1−s)κ''(t + s(u−t)) ds. The coefficients of κ's power series are not negative, so κ'' grows on [0, 1): C
/// lies between its values at the ends of a range without negative u. In any range |κ''(−v)| ≤ κ''(v), so with E(u) =
/// κ(|u|) − κ'(0)|u| in the place of κ, C is an upper bound, largest at one of the ends, since E'' = κ''(|u|) is
/// convex. From below there is κ''(−v) ≥ 2κ''(0) − κ''(v), hence C ≥ κ''(0) − the upper bound; of one rectifier κ'' is
/// even and C ≥ κ''(0)/2; and 0 where κ is convex.
struct CurvatureBounds {
  std::vector<double> value, slope;  ///< κ(t), κ'(t)
  std::vector<Curvature> curvature;

  CurvatureBounds(const ConeKernel& kernel, std::span<const CosineRange> ranges);
};

}  // namespace widelimit
