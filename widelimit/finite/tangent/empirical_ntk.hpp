#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/backward.hpp"

#include <cstdint>
#include <string_view>

namespace widelimit {

/// Computes the empirical tangent kernel Θ̂(x,x') = ⟨∇f(x), ∇f(x')⟩ of a scalar output, slot by slot from the factors of
/// the gradients, without a Jacobian:                                                  [docs/theory/finite.md]
///   Θ̂ = Σ_l [ w_scale²·Σ_{p,q} ⟨a_p, a'_q⟩⟨d_p, d'_q⟩ + b_scale²·⟨Σ_p d_p, Σ_q d'_q⟩ ],   l over trained slots.
/// A slot costs O(n₁·n₂·P²·(fan_in + fan_out)). If the matrix of a convolution is smaller than that, positions are
/// contracted first, Σ_p a_p d_pᵀ, which costs O((n₁ + n₂)·P·fan_in·fan_out + n₁·n₂·fan_in·fan_out).
template <std::floating_point T>
[[nodiscard]] Matrix<T> empirical_ntk(const Architecture& architecture, const Gradient<T>& g1, const Gradient<T>& g2,
                                      const Engine& engine = all_processors());
/// The symmetric case of one set of samples: half the work, exactly symmetric.
template <std::floating_point T>
[[nodiscard]] Matrix<T> empirical_ntk(const Architecture& architecture, const Gradient<T>& g,
                                      const Engine& engine = all_processors());

/// How the K outputs of a network are combined.
enum class NtkOutputs : std::uint8_t {
  trace,  ///< mean over the outputs of Θ̂_kk, n₁ × n₂: converges to the infinite kernel
  full,   ///< all pairs: entry (i·K + k, j·K + l) is ⟨∇f_k(x_i), ∇f_l(x_j)⟩
};
/// Parses "trace" or "full". Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] NtkOutputs parse_ntk_outputs(std::string_view text);

struct NtkOptions {
  NtkOutputs outputs = NtkOutputs::trace;
  Progress* progress = nullptr;  ///< polled between tiles; may cancel the computation
};

/// Computes the empirical kernel of a network on samples, without dropout. If `x2` is `x1` itself, half the work.
/// Throws Error{numerical} if an entry overflows.
template <std::floating_point T>
[[nodiscard]] Matrix<T> empirical_ntk(const Architecture& architecture, const Parameters<T>& parameters,
                                      const Tensor<T>& x1, const Tensor<T>& x2, const NtkOptions& options = {},
                                      const Engine& engine = all_processors());

}  // namespace widelimit
