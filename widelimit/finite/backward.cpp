#include "widelimit/finite/backward.hpp"

#include "widelimit/finite/affine.hpp"
#include "widelimit/finite/pooling.hpp"
#include "widelimit/finite/window.hpp"

namespace widelimit {

namespace {

class Backward {
 public:
  Backward(const Architecture& architecture, const Parameters& parameters, const DropoutDraw& dropout)
      : architecture_(architecture), parameters_(parameters), dropout_(dropout) {
    factors_.resize(architecture.slots.size());
  }

  Tensor chain(const std::vector<Stage>& stages, const Trace& trace, Tensor signal) {
    for (std::size_t k = stages.size(); k-- > 0;) {
      signal =
          std::visit([&](const auto& layer) { return apply(layer, stages[k], trace.values[k], trace.arms[k], signal); },
                     stages[k].layer.value);
    }
    return signal;
  }

  std::vector<GradientFactors> take_factors() { return std::move(factors_); }

 private:
  using Arms = std::vector<Trace>;

  /// Keeps the factors of a dense or conv stage and returns the signal at what its matrix multiplied.
  Tensor weigh(const Stage& stage, const Tensor& input, const Tensor& signal) {
    const auto slot = static_cast<std::size_t>(stage.slot);
    factors_[slot] = {weight_input(stage, input), signal};
    return affine_signal(architecture_.slots[slot], parameters_.slots[slot], signal);
  }

  Tensor apply(const Dense&, const Stage& stage, const Tensor& input, const Arms&, const Tensor& signal) {
    return weigh(stage, input, signal);
  }
  Tensor apply(const Conv& conv, const Stage& stage, const Tensor& input, const Arms&, const Tensor& signal) {
    return Windows(stage.in, conv.kernel, conv.strides, conv.padding).scatter(weigh(stage, input, signal), stage.in);
  }
  Tensor apply(const Activation& activation, const Stage& stage, const Tensor& input, const Arms&,
               const Tensor& signal) {
    return activate_signal(stage, activation, input, signal);
  }
  Tensor apply(const Pool& layer, const Stage&, const Tensor& input, const Arms&, const Tensor& signal) {
    return pool_signal(layer, input, signal);
  }
  Tensor apply(const GlobalPool& layer, const Stage& stage, const Tensor&, const Arms&, const Tensor& signal) {
    return global_pool_signal(layer, stage.in, signal);
  }
  Tensor apply(const Flatten&, const Stage& stage, const Tensor&, const Arms&, const Tensor& signal) {
    Tensor back(signal);
    back.reshape(stage.in);
    return back;
  }
  Tensor apply(const LayerNorm&, const Stage&, const Tensor& input, const Arms&, const Tensor& signal) {
    return normalise_signal(input, signal);
  }
  Tensor apply(const Dropout& layer, const Stage& stage, const Tensor&, const Arms&, const Tensor& signal) {
    return drop(layer, stage.dropout, dropout_, signal);
  }
  Tensor apply(const Scale& layer, const Stage&, const Tensor&, const Arms&, const Tensor& signal) {
    return rescale(layer, signal);
  }
  Tensor apply(const Attention&, const Stage& stage, const Tensor& input, const Arms&, const Tensor& signal) {
    const AttentionWeights weights = attention_weights(architecture_, parameters_, stage);
    AttentionValues values = attend(weights, input);
    AttentionSignals signals = attend_signal(weights, values, signal);
    const auto slot = static_cast<std::size_t>(stage.slot);
    factors_[slot] = {input, std::move(signals.y)};
    factors_[slot + 1] = {input, std::move(signals.v)};
    factors_[slot + 2] = {std::move(values.u), signal};
    return std::move(signals.x);
  }
  Tensor apply(const Residual&, const Stage& stage, const Tensor&, const Arms& arms, const Tensor& signal) {
    Tensor sum = chain(stage.branch, arms[0], signal);
    sum += chain(stage.shortcut, arms[1], signal);
    return sum;
  }

  const Architecture& architecture_;
  const Parameters& parameters_;
  DropoutDraw dropout_;
  std::vector<GradientFactors> factors_;
};

}  // namespace

Gradient backward(const Architecture& architecture, const Parameters& parameters, const Trace& trace,
                  Tensor output_signal, const DropoutDraw& dropout) {
  Backward pass(architecture, parameters, dropout);
  Tensor input = pass.chain(architecture.stages, trace, std::move(output_signal));
  return {pass.take_factors(), std::move(input)};
}

}  // namespace widelimit
