#pragma once

#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/pointwise.hpp"
#include "widelimit/finite/self_attention.hpp"
#include "widelimit/finite/tensor.hpp"

#include <vector>

namespace widelimit {

/// The activations of one chain of stages: values[k] enters stage k, values.back() leaves the chain. Whatever else the
/// way back needs (masks, attention weights, maxima) is a function of these and is computed again there.
struct Trace {
  std::vector<Tensor> values;
  std::vector<std::vector<Trace>> arms;  ///< per stage: branch and shortcut of a residual, else nothing

  [[nodiscard]] const Tensor& output() const { return values.back(); }
};

/// The network's activations on `input`.  O(samples · weights · positions).
[[nodiscard]] Trace forward(const Architecture& architecture, const Parameters& parameters, Tensor input,
                            const DropoutDraw& dropout = {});

/// What the matrix of a dense or conv stage multiplies: its input, or the windows of it side by side.
[[nodiscard]] Tensor weight_input(const Stage& stage, const Tensor& input);

/// The three matrices of an attention stage.
[[nodiscard]] AttentionWeights attention_weights(const Architecture& architecture, const Parameters& parameters,
                                                 const Stage& stage);

}  // namespace widelimit
