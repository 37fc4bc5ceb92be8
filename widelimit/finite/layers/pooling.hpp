#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/layers/window.hpp"
#include "widelimit/network/layer.hpp"

namespace widelimit {

/// Average (over the whole window, zeros over the edge included, as the kernel has it), sum, or maximum (of the
/// places inside). Each channel alone.
template <std::floating_point T>
void pool(Pooling pooling, const Windows& windows, const Tensor<T>& input, Tensor<T>& output, const Engine& engine);
/// Signal at the input of a pool; a maximum sends it to the first place that attains it.
template <std::floating_point T>
void pool_signal(Pooling pooling, const Windows& windows, const Tensor<T>& input, const Tensor<T>& signal,
                 Tensor<T>& back, const Engine& engine);
/// Change of the output with a change of the input: for a maximum that of the place that attains it.
template <std::floating_point T>
void pool_tangent(Pooling pooling, const Windows& windows, const Tensor<T>& input, const Tensor<T>& change,
                  Tensor<T>& output, const Engine& engine);

template <std::floating_point T>
void global_pool(const GlobalPool& layer, const Tensor<T>& input, Tensor<T>& output, const Engine& engine);
template <std::floating_point T>
void global_pool_signal(const GlobalPool& layer, const Shape& in, const Tensor<T>& signal, Tensor<T>& back,
                        const Engine& engine);

}  // namespace widelimit
