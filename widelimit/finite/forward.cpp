#include "widelimit/finite/forward.hpp"

#include "widelimit/finite/affine.hpp"
#include "widelimit/finite/pooling.hpp"
#include "widelimit/finite/window.hpp"

namespace widelimit {

namespace {

class Forward {
 public:
  Forward(const Architecture& architecture, const Parameters& parameters, const DropoutDraw& dropout)
      : architecture_(architecture), parameters_(parameters), dropout_(dropout) {}

  Trace chain(const std::vector<Stage>& stages, Tensor input) const {
    Trace trace;
    trace.values.push_back(std::move(input));
    for (const Stage& stage : stages) {
      std::vector<Trace> arms;
      Tensor output =
          std::visit([&](const auto& layer) { return apply(layer, stage, trace.output(), arms); }, stage.layer.value);
      trace.values.push_back(std::move(output));
      trace.arms.push_back(std::move(arms));
    }
    return trace;
  }

 private:
  using Arms = std::vector<Trace>;

  Tensor weigh(const Stage& stage, const Tensor& input) const {
    const auto slot = static_cast<std::size_t>(stage.slot);
    return affine(architecture_.slots[slot], parameters_.slots[slot], weight_input(stage, input));
  }

  Tensor apply(const Dense&, const Stage& stage, const Tensor& input, Arms&) const { return weigh(stage, input); }
  Tensor apply(const Conv&, const Stage& stage, const Tensor& input, Arms&) const { return weigh(stage, input); }
  Tensor apply(const Activation& activation, const Stage& stage, const Tensor& input, Arms&) const {
    return activate(stage, activation, input);
  }
  Tensor apply(const Pool& layer, const Stage&, const Tensor& input, Arms&) const { return pool(layer, input); }
  Tensor apply(const GlobalPool& layer, const Stage&, const Tensor& input, Arms&) const {
    return global_pool(layer, input);
  }
  Tensor apply(const Flatten&, const Stage& stage, const Tensor& input, Arms&) const {
    Tensor output(input);
    output.reshape(stage.out);
    return output;
  }
  Tensor apply(const LayerNorm&, const Stage&, const Tensor& input, Arms&) const { return normalise(input); }
  Tensor apply(const Dropout& layer, const Stage& stage, const Tensor& input, Arms&) const {
    return drop(layer, stage.dropout, dropout_, input);
  }
  Tensor apply(const Scale& layer, const Stage&, const Tensor& input, Arms&) const { return rescale(layer, input); }
  Tensor apply(const Attention&, const Stage& stage, const Tensor& input, Arms&) const {
    const AttentionWeights weights = attention_weights(architecture_, parameters_, stage);
    return affine(weights.slots[2], weights.weights[2], attend(weights, input).u);
  }
  Tensor apply(const Residual&, const Stage& stage, const Tensor& input, Arms& arms) const {
    arms.push_back(chain(stage.branch, input));
    arms.push_back(chain(stage.shortcut, input));
    Tensor sum(arms[0].output());
    return sum += arms[1].output();
  }

  const Architecture& architecture_;
  const Parameters& parameters_;
  DropoutDraw dropout_;
};

}  // namespace

Trace forward(const Architecture& architecture, const Parameters& parameters, Tensor input,
              const DropoutDraw& dropout) {
  return Forward(architecture, parameters, dropout).chain(architecture.stages, std::move(input));
}

Tensor weight_input(const Stage& stage, const Tensor& input) {
  const auto* conv = std::get_if<Conv>(&stage.layer.value);
  if (conv == nullptr) return input;
  return Windows(stage.in, conv->kernel, conv->strides, conv->padding).gather(input);
}

AttentionWeights attention_weights(const Architecture& architecture, const Parameters& parameters, const Stage& stage) {
  const auto first = static_cast<std::size_t>(stage.slot);
  return {std::span(architecture.slots).subspan(first, 3), std::span(parameters.slots).subspan(first, 3)};
}

}  // namespace widelimit
