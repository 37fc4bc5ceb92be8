#pragma once

#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/tensor.hpp"

#include <span>

namespace widelimit {

/// Global self-attention with 1/d scaling and tied query and key, per sample with rows x_p (positions):
///   y = x W_y/√C,  ζ_p = softmax_q(⟨y_p, y_q⟩/d),  v = x W_v/√C,  u = ζ v,  z = u W_o/√h.
/// All three matrices are trained. In the limit ⟨y_p,y_q⟩/d → Σ(x_p,x_q), so Σ ← ζΣζᵀ; W_v and W_o each add
/// Σ_new to Θ, and what flows through ζ (the part of W_y, and of x by way of y) vanishes as 1/d.
struct AttentionValues {
  Tensor y;     ///< N × P × d
  Tensor v;     ///< N × P × h
  Tensor zeta;  ///< N × P × P
  Tensor u;     ///< N × P × h
};
/// The three consecutive slots W_y, W_v, W_o.
struct AttentionWeights {
  std::span<const WeightSlot> slots;
  std::span<const Weights> weights;
};

[[nodiscard]] AttentionValues attend(const AttentionWeights& weights, const Tensor& x);

/// Signals at y, v (where the gradients of W_y and W_v are read off) and x, from the signal at z.
struct AttentionSignals {
  Tensor y;
  Tensor v;
  Tensor x;
};
[[nodiscard]] AttentionSignals attend_signal(const AttentionWeights& weights, const AttentionValues& values,
                                             const Tensor& z_signal);

}  // namespace widelimit
