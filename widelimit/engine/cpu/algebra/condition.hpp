#pragma once

#include "widelimit/base/matrix.hpp"

#include <concepts>

namespace widelimit::cpu {

/// Estimate of ‖A‖₁‖A⁻¹‖₁ from the factor u of A = uᵀu and ‖A‖₁: a lower bound that is seldom below a third of it
/// (Hager 1984; Higham 1988). Infinity where it is beyond counting. Shared by the AlgebraTeam of this thread.  At most
/// eleven solutions, O(n²) each.
template <std::floating_point T>
[[nodiscard]] double condition_of(MatrixView<const T> u, double norm);

}  // namespace widelimit::cpu
