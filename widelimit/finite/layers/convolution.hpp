#pragma once

#include "widelimit/finite/layers/affine.hpp"
#include "widelimit/finite/layers/window.hpp"

namespace widelimit {

/// Returns whether the engine works in host memory, where convolutions need no copy of their windows' inputs.
[[nodiscard]] bool works_on_host(const Engine& engine);

/// Computes z = w_scale·aW + b_scale·b, a the input of each window. `patches` is a scratch buffer for engines with
/// separate memory.
template <std::floating_point T>
void convolve(const WeightSlot& slot, const Weights<T>& weights, const Windows& windows, const Tensor<T>& input,
              Tensor<T>& patches, Tensor<T>& output, const Engine& engine);

/// Computes the signal at the input, of shape `in`, from the signal at z.
template <std::floating_point T>
void convolve_signal(const WeightSlot& slot, const Weights<T>& weights, const Windows& windows, const Shape& in,
                     const Tensor<T>& signal, Tensor<T>& patches, Tensor<T>& back, const Engine& engine);

/// Computes to += Σ aᵀ∂f/∂z over samples and positions, fan_in × fan_out, on the host. Groups of samples, whose number
/// depends only on sizes, are summed separately and added in order, so results do not depend on the number of threads.
template <std::floating_point T>
void add_filter_gradient(const Windows& windows, const Tensor<T>& input, const Tensor<T>& signal, MatrixView<T> to,
                         const Engine& engine);

}  // namespace widelimit
