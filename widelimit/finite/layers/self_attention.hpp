#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

#include <span>

namespace widelimit {

/// Global self-attention with 1/d scaling and tied query and key, per sample with rows x_p (positions):
///   y = x W_y/√C,  ζ_p = softmax_q(⟨y_p, y_q⟩/d),  v = x W_v/√C,  u = ζ v,  z = u W_o/√h.
/// All three matrices are trained. In the limit ⟨y_p,y_q⟩/d → Σ(x_p,x_q), so Σ ← ζΣζᵀ; W_v and W_o each add Σ_new to Θ,
/// and contributions through ζ (of W_y, and of x through y) vanish as 1/d.
template <std::floating_point T>
struct AttentionValues {
  Tensor<T> y;     ///< N × P × d
  Tensor<T> v;     ///< N × P × h
  Tensor<T> zeta;  ///< N × P × P
  Tensor<T> u;     ///< N × P × h
};
/// The three consecutive slots W_y, W_v, W_o.
template <std::floating_point T>
struct AttentionWeights {
  std::span<const WeightSlot> slots;
  std::span<const Weights<T>> weights;
};
template <std::floating_point T>
[[nodiscard]] AttentionWeights<T> attention_weights(const Architecture& architecture, const Parameters<T>& parameters,
                                                    const Stage& stage) {
  const auto first = static_cast<std::size_t>(stage.slot);
  return {std::span(architecture.slots).subspan(first, 3), std::span(parameters.slots).subspan(first, 3)};
}

template <std::floating_point T>
void attend(const AttentionWeights<T>& weights, const Tensor<T>& x, AttentionValues<T>& values, const Engine& engine);

/// Signals at u, y and v (from which the gradients of W_y and W_v are computed), given the signal at z.
template <std::floating_point T>
struct AttentionSignals {
  Tensor<T> u;
  Tensor<T> y;
  Tensor<T> v;
  Tensor<T> logits;  ///< of one sample; of all samples on an engine with separate memory
};
/// Computes the signals and `x_signal`, the signal at x.
template <std::floating_point T>
void attend_signal(const AttentionWeights<T>& weights, const AttentionValues<T>& values, const Tensor<T>& z_signal,
                   AttentionSignals<T>& signals, Tensor<T>& x_signal, const Engine& engine);

/// Computes the derivative of z along changes of x and of the three matrices.
template <std::floating_point T>
void attend_tangent(const AttentionWeights<T>& weights, const AttentionWeights<T>& change, const Tensor<T>& x,
                    const Tensor<T>& x_change, const AttentionValues<T>& values, Tensor<T>& z_change,
                    const Engine& engine);

}  // namespace widelimit
