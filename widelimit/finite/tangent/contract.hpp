#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/finite/backward.hpp"

namespace widelimit {

/// Adds one slot's part of the empirical kernel to `kernel`; where g1 and g2 are one and the same, to what lies on and
/// above the diagonal only.  [empirical_ntk.hpp]
template <std::floating_point T>
void contract_slot(const WeightSlot& slot, const GradientFactors<T>& g1, const GradientFactors<T>& g2,
                   MatrixView<T> kernel, int threads);

}  // namespace widelimit
