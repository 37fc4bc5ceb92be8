#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

namespace widelimit {

/// Computes z = w_scale·aW + b_scale·b at every position.
template <std::floating_point T>
void affine(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z, const Engine& engine);
/// Computes z += w_scale·aW.
template <std::floating_point T>
void add_product(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& a, Tensor<T>& z,
                 const Engine& engine);

/// Computes the signal at a from the signal at z: w_scale·(∂f/∂z)Wᵀ.
template <std::floating_point T>
void affine_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal, Tensor<T>& a_signal,
                   const Engine& engine);
/// Adds the signal at a to `a_signal`.
template <std::floating_point T>
void add_affine_signal(const WeightSlot& slot, const Weights<T>& weights, const Tensor<T>& z_signal,
                       Tensor<T>& a_signal, const Engine& engine);

}  // namespace widelimit
