#include "widelimit/finite/backward.hpp"

#include "widelimit/finite/layers/convolution.hpp"
#include "widelimit/finite/layers/pooling.hpp"
#include "widelimit/finite/layers/self_attention.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Computes signals.values[k] from signals.values[k + 1], stage by stage from the last, and stores the factors.
template <std::floating_point T>
class Backward {
 public:
  Backward(const Architecture& architecture, const Parameters<T>& parameters, const PassOptions& options,
           const Engine& engine, Gradient<T>& gradient)
      : architecture_(architecture), parameters_(parameters), options_(options), engine_(engine), gradient_(gradient) {}

  /// `to_input`: whether the signal at the chain's input is needed; otherwise the pass ends at the first trained stage.
  void chain(const std::vector<Stage>& stages, const Trace<T>& trace, Trace<T>& signals, bool to_input) {
    const auto trained = std::find_if(stages.begin(), stages.end(), [](const Stage& stage) { return stage.trains; });
    const auto last = to_input ? std::size_t{0} : static_cast<std::size_t>(trained - stages.begin());
    for (std::size_t k = stages.size(); k-- > last;) {
      stop_if_requested(options_.progress);
      const Step step{stages[k], trace, signals, k, to_input || k > last};
      std::visit([&](const auto& layer) { apply(layer, step); }, stages[k].layer.value);
    }
  }

 private:
  struct Step {
    const Stage& stage;
    const Trace<T>& trace;
    Trace<T>& signals;
    std::size_t k;
    bool onwards;

    [[nodiscard]] const Tensor<T>& input() const { return trace.values[k]; }
    [[nodiscard]] const Tensor<T>& signal() const { return signals.values[k + 1]; }
    [[nodiscard]] Tensor<T>& back() const { return signals.values[k]; }
    [[nodiscard]] std::size_t slot() const { return static_cast<std::size_t>(stage.slot); }
  };

  void apply(const Dense&, const Step& step) {
    if (step.stage.trains) gradient_.slots[step.slot()] = {&step.input(), &step.signal()};
    if (!step.onwards) return;
    affine_signal(architecture_.slots[step.slot()], parameters_.slots[step.slot()], step.signal(), step.back(),
                  engine_);
  }
  void apply(const Conv&, const Step& step) {
    const Windows& windows = *step.stage.windows;
    if (step.stage.trains && !options_.gather_windows && works_on_host(engine_)) {
      gradient_.slots[step.slot()] = {&step.input(), &step.signal(), &windows};
    } else if (step.stage.trains) {
      Tensor<T>& patches = gradient_.windows[step.slot()];
      windows.gather(step.input(), patches, engine_);
      gradient_.slots[step.slot()] = {&patches, &step.signal()};
    }
    if (!step.onwards) return;
    convolve_signal(architecture_.slots[step.slot()], parameters_.slots[step.slot()], windows, step.stage.in,
                    step.signal(), step.signals.windows, step.back(), engine_);
  }
  void apply(const Activation& activation, const Step& step) {
    activate_signal(step.stage, activation, step.input(), step.signal(), step.back(), engine_);
  }
  void apply(const Pool& layer, const Step& step) {
    pool_signal(layer.pooling, *step.stage.windows, step.input(), step.signal(), step.back(), engine_);
  }
  void apply(const GlobalPool& layer, const Step& step) {
    global_pool_signal(layer, step.stage.in, step.signal(), step.back(), engine_);
  }
  void apply(const Flatten&, const Step& step) { step.back().assign(step.signal(), step.stage.in); }
  void apply(const LayerNorm&, const Step& step) {
    normalise_signal(step.input(), step.signal(), step.back(), engine_);
  }
  void apply(const Dropout& layer, const Step& step) {
    if (options_.dropout) {
      drop(layer, step.stage.dropout, *options_.dropout, step.signal(), step.back(), engine_);
    } else {
      step.back().assign(step.signal());
    }
  }
  void apply(const Scale& layer, const Step& step) { rescale(layer, step.signal(), step.back(), engine_); }
  void apply(const Aggregate&, const Step& step) { refuse_graphs(step.stage.place); }
  void apply(const Attention&, const Step& step) {
    const AttentionWeights<T> weights = attention_weights(architecture_, parameters_, step.stage);
    AttentionValues<T>& values = gradient_.attention[step.slot()];
    AttentionSignals<T>& signals = gradient_.attention_signals[step.slot()];
    attend(weights, step.input(), values, engine_);
    attend_signal(weights, values, step.signal(), signals, step.back(), engine_);
    if (!step.stage.trains) return;
    gradient_.slots[step.slot()] = {&step.input(), &signals.y};
    gradient_.slots[step.slot() + 1] = {&step.input(), &signals.v};
    gradient_.slots[step.slot() + 2] = {&values.u, &step.signal()};
  }
  void apply(const Residual&, const Step& step) {
    const std::vector<Trace<T>>& arms = step.trace.arms[step.k];
    std::vector<Trace<T>>& signals = step.signals.arms[step.k];
    const auto arm = [&](const std::vector<Stage>& stages, std::size_t which) {
      signals[which].values.back().assign(step.signal());
      chain(stages, arms[which], signals[which], step.onwards);
    };
    arm(step.stage.branch, 0);
    arm(step.stage.shortcut, 1);
    if (!step.onwards) return;
    step.back().assign(signals[0].values.front());
    step.back() += signals[1].values.front();
  }

  const Architecture& architecture_;
  const Parameters<T>& parameters_;
  const PassOptions& options_;
  const Engine& engine_;
  Gradient<T>& gradient_;
};

/// Allocates the signals of a chain, unless they exist. Factors point into them, so they must not be reallocated during
/// a pass.
template <std::floating_point T>
void allocate_signals(const std::vector<Stage>& stages, Trace<T>& signals) {
  signals.values.resize(stages.size() + 1);
  signals.arms.resize(stages.size());
  for (std::size_t k = 0; k < stages.size(); ++k) {
    if (!std::holds_alternative<Residual>(stages[k].layer.value)) continue;
    signals.arms[k].resize(2);
    allocate_signals(stages[k].branch, signals.arms[k][0]);
    allocate_signals(stages[k].shortcut, signals.arms[k][1]);
  }
}

}  // namespace

template <std::floating_point T>
Tensor<T>& Gradient<T>::output_signal(const Architecture& architecture) {
  allocate_signals(architecture.stages, signals);
  return signals.values.back();
}

template <std::floating_point T>
void backward(const Architecture& architecture, const Parameters<T>& parameters, const Trace<T>& trace,
              const PassOptions& options, const Engine& engine, Gradient<T>& gradient) {
  const std::size_t count = architecture.slots.size();
  gradient.slots.resize(count);
  gradient.windows.resize(count);
  gradient.attention.resize(count);
  gradient.attention_signals.resize(count);
  Backward<T>(architecture, parameters, options, engine, gradient)
      .chain(architecture.stages, trace, gradient.signals, options.input_signal);
}

template <std::floating_point T>
Gradient<T> backward(const Architecture& architecture, const Parameters<T>& parameters, const Trace<T>& trace,
                     Tensor<T> output_signal, const PassOptions& options, const Engine& engine) {
  Gradient<T> gradient;
  gradient.output_signal(architecture) = std::move(output_signal);
  backward(architecture, parameters, trace, options, engine, gradient);
  return gradient;
}

template struct Gradient<float>;
template struct Gradient<double>;
template void backward(const Architecture&, const Parameters<float>&, const Trace<float>&, const PassOptions&,
                       const Engine&, Gradient<float>&);
template void backward(const Architecture&, const Parameters<double>&, const Trace<double>&, const PassOptions&,
                       const Engine&, Gradient<double>&);
template Gradient<float> backward(const Architecture&, const Parameters<float>&, const Trace<float>&, Tensor<float>,
                                  const PassOptions&, const Engine&);
template Gradient<double> backward(const Architecture&, const Parameters<double>&, const Trace<double>&, Tensor<double>,
                                   const PassOptions&, const Engine&);

}  // namespace widelimit
