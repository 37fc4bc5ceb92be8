#pragma once

#include "widelimit/finite/forward.hpp"

#include <vector>

namespace widelimit {

/// The gradient of one weight slot, as the two factors it is made of. Per sample, with positions p:
///   ∂f/∂W = w_scale·Σ_p a_p d_pᵀ,   ∂f/∂b = b_std·Σ_p d_p.
struct GradientFactors {
  Tensor a;  ///< N × P × fan_in: what the matrix multiplies
  Tensor d;  ///< N × P × fan_out: signal at what it yields
};

/// Everything one pass back gives: a trainer sums the factors over samples, the empirical NTK contracts them.
struct Gradient {
  std::vector<GradientFactors> slots;
  Tensor input;  ///< ∂f/∂x
};

/// Gradient of a scalar f of the output per sample; `output_signal` is ∂f/∂output (for one scalar output: ones).
/// `dropout` must be that of the forward pass.  As costly as two forward passes.
[[nodiscard]] Gradient backward(const Architecture& architecture, const Parameters& parameters, const Trace& trace,
                                Tensor output_signal, const DropoutDraw& dropout = {});

}  // namespace widelimit
