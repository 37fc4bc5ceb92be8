#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/layers/pointwise.hpp"
#include "widelimit/finite/layers/self_attention.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// Options of forward and backward passes.
struct PassOptions {
  std::optional<DropoutDraw> dropout = {};  ///< dropout masks for training; without them dropout is the identity
  bool input_signal = true;                 ///< backward: whether ∂f/∂x is needed; a trainer does not need it
  /// Backward: whether factors of convolutions are gathered explicitly. Otherwise they can be images with windows.
  bool gather_windows = true;
  Progress* progress = nullptr;  ///< polled between layers, on the calling thread; may cancel the pass
};

/// The activations of one chain of stages: values[k] is the input of stage k, values.back() the output of the chain.
/// Other quantities of the backward pass (masks, attention weights, maxima) are functions of these and are recomputed.
template <std::floating_point T>
struct Trace {
  std::vector<Tensor<T>> values;
  std::vector<std::vector<Trace>> arms;  ///< per stage: branch and shortcut of a residual, otherwise empty
  Tensor<T> windows;                     ///< scratch buffer of convolutions, on engines with separate memory
  AttentionValues<T> attention;          ///< scratch buffers of attention

  [[nodiscard]] const Tensor<T>& output() const { return values.back(); }
  /// The input of the network, to be filled before the pass.
  [[nodiscard]] Tensor<T>& input();
};

/// Computes the activations for trace.input(), reusing the memory of the previous pass. O(samples · weights ·
/// positions).
template <std::floating_point T>
void forward(const Architecture& architecture, const Parameters<T>& parameters, const PassOptions& options,
             const Engine& engine, Trace<T>& trace);
template <std::floating_point T>
[[nodiscard]] Trace<T> forward(const Architecture& architecture, const Parameters<T>& parameters, Tensor<T> input,
                               const PassOptions& options = {}, const Engine& engine = all_processors());

}  // namespace widelimit
