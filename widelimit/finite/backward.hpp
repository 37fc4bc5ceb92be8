#pragma once

#include "widelimit/finite/forward.hpp"
#include "widelimit/finite/layers/self_attention.hpp"

#include <vector>

namespace widelimit {

/// The gradient of one weight slot in factored form. Per sample, with positions p:
///   ∂f/∂W = w_scale·Σ_p a_p d_pᵀ,   ∂f/∂b = b_scale·Σ_p d_p.
/// Borrowed: `a` from the trace or the Gradient, `d` from the Gradient. Null for frozen slots.
template <std::floating_point T>
struct GradientFactors {
  const Tensor<T>* a = nullptr;  ///< N × P × fan_in: input of the matrix
  const Tensor<T>* d = nullptr;  ///< N × P × fan_out: signal at its output
  /// If set, `a` holds the images, and the input of the matrix is what these windows read from them.
  const Windows* windows = nullptr;
};

/// The result of a backward pass: a trainer sums the factors over samples, the empirical NTK contracts them. Valid as
/// long as the trace of the pass is unchanged. Move-only, since its factors point into it.
template <std::floating_point T>
struct Gradient {
  std::vector<GradientFactors<T>> slots;
  Trace<T> signals;                           ///< values[k]: signal at the input of stage k
  std::vector<Tensor<T>> windows;             ///< per slot: inputs of a convolution's windows
  std::vector<AttentionValues<T>> attention;  ///< per slot
  std::vector<AttentionSignals<T>> attention_signals;

  Gradient() = default;
  Gradient(Gradient&&) noexcept = default;
  Gradient& operator=(Gradient&&) noexcept = default;
  Gradient(const Gradient&) = delete;
  Gradient& operator=(const Gradient&) = delete;
  ~Gradient() = default;

  [[nodiscard]] Index count() const { return signals.values.back().count(); }
  /// ∂f/∂x.
  [[nodiscard]] const Tensor<T>& input() const { return signals.values.front(); }
  /// ∂f/∂output, to be filled before the pass.
  [[nodiscard]] Tensor<T>& output_signal(const Architecture& architecture);
};

/// Computes the gradient of a scalar f of the output per sample; gradient.output_signal() is ∂f/∂output (for one scalar
/// output: ones). `options.dropout` must be that of the forward pass. Reuses the memory of the previous pass. Costs two
/// forward passes, less with frozen layers: without options.input_signal the pass ends at the first trained layer.
template <std::floating_point T>
void backward(const Architecture& architecture, const Parameters<T>& parameters, const Trace<T>& trace,
              const PassOptions& options, const Engine& engine, Gradient<T>& gradient);
template <std::floating_point T>
[[nodiscard]] Gradient<T> backward(const Architecture& architecture, const Parameters<T>& parameters,
                                   const Trace<T>& trace, Tensor<T> output_signal, const PassOptions& options = {},
                                   const Engine& engine = all_processors());

}  // namespace widelimit
