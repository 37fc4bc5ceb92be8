#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Where to go on a face of the box, that is, with only the free variables moving.
struct FaceDirection {
  std::vector<double> by;  ///< one per free variable; empty where no direction descends
  bool flat = false;       ///< no curvature along it: go until a bound, instead of at most the whole way
  double work = 0;         ///< cycles that it took, roughly
};

/// Newton's step −Q⁻¹·slope, or with `equality` the best step whose sum is 0, by Cholesky. Where Q (on that subspace)
/// is not positive definite: a direction v with vᵀQv ≤ 0 up to rounding, from the first leading minor that fails.
/// O(free³/3).
[[nodiscard]] FaceDirection face_direction(const Matrix<double>& q, std::span<const double> slope, bool equality);

}  // namespace widelimit
