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

/// How a network is run through.
struct PassOptions {
  std::optional<DropoutDraw> dropout = {};  ///< masks of training; without them dropout passes everything on
  bool input_signal = true;                 ///< backward: whether ∂f/∂x is wanted; a trainer does without
  /// Backward: whether factors of convolutions are written out. Else they may be images with their windows.
  bool seen = true;
  Progress* progress = nullptr;  ///< asked between two layers, on the calling thread; may stop the pass
};

/// The activations of one chain of stages: values[k] enters stage k, values.back() leaves the chain. Whatever else the
/// way back needs (masks, attention weights, maxima) is a function of these and is computed again there.
template <std::floating_point T>
struct Trace {
  std::vector<Tensor<T>> values;
  std::vector<std::vector<Trace>> arms;  ///< per stage: branch and shortcut of a residual, else nothing
  Tensor<T> windows;                     ///< scratch of convolutions, where an engine has memory of its own
  AttentionValues<T> attention;          ///< scratch of attention

  [[nodiscard]] const Tensor<T>& output() const { return values.back(); }
  /// The input of the network, to be filled before the pass.
  [[nodiscard]] Tensor<T>& input();
};

/// The network's activations on trace.input(), in the memory of the pass before.  O(samples · weights · positions).
template <std::floating_point T>
void forward(const Architecture& architecture, const Parameters<T>& parameters, const PassOptions& options,
             const Engine& engine, Trace<T>& trace);
template <std::floating_point T>
[[nodiscard]] Trace<T> forward(const Architecture& architecture, const Parameters<T>& parameters, Tensor<T> input,
                               const PassOptions& options = {}, const Engine& engine = all_processors());

}  // namespace widelimit
