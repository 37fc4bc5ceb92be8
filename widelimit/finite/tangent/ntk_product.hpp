#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

namespace widelimit {

/// Returns Θ̂(x1, x2)·v without the matrix: J(x1)·(J(x2)ᵀ·v), one backward pass and one tangent pass. `v` has one value
/// per output and sample of x2, the result one per output and sample of x1. Costs five forward passes; `progress` is
/// polled between layers.
template <std::floating_point T>
[[nodiscard]] Tensor<T> ntk_product(const Architecture& architecture, const Parameters<T>& parameters,
                                    const Tensor<T>& x1, const Tensor<T>& x2, const Tensor<T>& v,
                                    const Engine& engine = all_processors(), Progress* progress = nullptr);

}  // namespace widelimit
