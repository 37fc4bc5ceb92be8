#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/finite/backward.hpp"

namespace widelimit {

/// Empirical tangent kernel Θ̂(x,x') = ⟨∇f(x), ∇f(x')⟩ of a scalar output, slot by slot from the factors of the
/// gradients and never from a Jacobian:                                                  [mathematics §3]
///   Θ̂ = Σ_l [ w_scale²·Σ_{p,q} ⟨a_p, a'_q⟩⟨d_p, d'_q⟩ + b_std²·⟨Σ_p d_p, Σ_q d'_q⟩ ].
/// O(n₁·n₂·P²·(fan_in + fan_out)) per slot, memory O(P·n₂·P).
[[nodiscard]] Matrix<double> empirical_ntk(const Architecture& architecture, const Gradient& g1, const Gradient& g2);
/// One set of samples against itself: half the work, exactly symmetric.
[[nodiscard]] Matrix<double> empirical_ntk(const Architecture& architecture, const Gradient& g);

/// The same of a network on samples, end to end; f is output 0.
[[nodiscard]] Matrix<double> empirical_ntk(const Architecture& architecture, const Parameters& parameters,
                                           const Tensor& x1, const Tensor& x2);

}  // namespace widelimit
