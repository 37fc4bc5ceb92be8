#pragma once

#include "widelimit/finite/layers/affine.hpp"
#include "widelimit/finite/layers/window.hpp"

namespace widelimit {

/// Whether the engine works in the memory of the host, where convolutions need no copy of what their windows see.
[[nodiscard]] bool works_on_host(const Engine& engine);

/// z = w_scale·aW + b_scale·b, a what each window sees. `seen` is scratch for engines with memory of their own.
template <std::floating_point T>
void convolve(const WeightSlot& slot, const Weights<T>& weights, const Windows& windows, const Tensor<T>& input,
              Tensor<T>& seen, Tensor<T>& output, const Engine& engine);

/// Signal at the input, of shape `in`, from the signal at z.
template <std::floating_point T>
void convolve_signal(const WeightSlot& slot, const Weights<T>& weights, const Windows& windows, const Shape& in,
                     const Tensor<T>& signal, Tensor<T>& seen, Tensor<T>& back, const Engine& engine);

/// to += Σ aᵀ∂f/∂z over samples and positions, fan_in × fan_out, on the host. Sums over a number of groups of samples
/// that depends on sizes alone are added in their order, so that the numbers do not depend on the threads.
template <std::floating_point T>
void add_filter_gradient(const Windows& windows, const Tensor<T>& input, const Tensor<T>& signal, MatrixView<T> to,
                         const Engine& engine);

}  // namespace widelimit
