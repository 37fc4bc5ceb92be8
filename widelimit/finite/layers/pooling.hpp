#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/layers/window.hpp"
#include "widelimit/network/layer.hpp"

namespace widelimit {

/// Average (over the whole window, including zero padding, as in the kernel), sum, or maximum (over positions inside
/// the image), per channel.
template <std::floating_point T>
void pool(Pooling pooling, const Windows& windows, const Tensor<T>& input, Tensor<T>& output, const Engine& engine);
/// Computes the signal at the input; a maximum passes it to the first position that attains it.
template <std::floating_point T>
void pool_signal(Pooling pooling, const Windows& windows, const Tensor<T>& input, const Tensor<T>& signal,
                 Tensor<T>& back, const Engine& engine);
/// Computes the derivative of the output along a change of the input; for a maximum, at the position that attains it.
template <std::floating_point T>
void pool_tangent(Pooling pooling, const Windows& windows, const Tensor<T>& input, const Tensor<T>& change,
                  Tensor<T>& output, const Engine& engine);

template <std::floating_point T>
void global_pool(const GlobalPool& layer, const Tensor<T>& input, Tensor<T>& output, const Engine& engine);
template <std::floating_point T>
void global_pool_signal(const GlobalPool& layer, const Shape& in, const Tensor<T>& signal, Tensor<T>& back,
                        const Engine& engine);

}  // namespace widelimit
