#include "widelimit/finite/forward.hpp"

#include "widelimit/finite/layers/convolution.hpp"
#include "widelimit/finite/layers/pooling.hpp"
#include "widelimit/finite/layers/self_attention.hpp"

namespace widelimit {

namespace {

template <std::floating_point T>
class Forward {
 public:
  Forward(const Architecture& architecture, const Parameters<T>& parameters, const PassOptions& options,
          const Engine& engine)
      : architecture_(architecture), parameters_(parameters), options_(options), engine_(engine) {}

  void chain(const std::vector<Stage>& stages, Trace<T>& trace) const {
    trace.values.resize(stages.size() + 1);
    trace.arms.resize(stages.size());
    for (std::size_t k = 0; k < stages.size(); ++k) {
      stop_if_requested(options_.progress);
      std::visit([&](const auto& layer) { apply(layer, stages[k], k, trace); }, stages[k].layer.value);
    }
  }

 private:
  const WeightSlot& slot(const Stage& stage) const { return architecture_.slots[static_cast<std::size_t>(stage.slot)]; }
  const Weights<T>& weights(const Stage& stage) const {
    return parameters_.slots[static_cast<std::size_t>(stage.slot)];
  }

  void apply(const Dense&, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    affine(slot(stage), weights(stage), trace.values[k], trace.values[k + 1], engine_);
  }
  void apply(const Conv&, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    convolve(slot(stage), weights(stage), *stage.windows, trace.values[k], trace.windows, trace.values[k + 1], engine_);
  }
  void apply(const Activation& activation, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    activate(stage, activation, trace.values[k], trace.values[k + 1], engine_);
  }
  void apply(const Pool& layer, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    pool(layer.pooling, *stage.windows, trace.values[k], trace.values[k + 1], engine_);
  }
  void apply(const GlobalPool& layer, const Stage&, std::size_t k, Trace<T>& trace) const {
    global_pool(layer, trace.values[k], trace.values[k + 1], engine_);
  }
  void apply(const Flatten&, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    trace.values[k + 1].assign(trace.values[k], stage.out);
  }
  void apply(const LayerNorm&, const Stage&, std::size_t k, Trace<T>& trace) const {
    normalise(trace.values[k], trace.values[k + 1], engine_);
  }
  void apply(const Dropout& layer, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    if (options_.dropout) {
      drop(layer, stage.dropout, *options_.dropout, trace.values[k], trace.values[k + 1], engine_);
    } else {
      trace.values[k + 1].assign(trace.values[k]);
    }
  }
  void apply(const Scale& layer, const Stage&, std::size_t k, Trace<T>& trace) const {
    rescale(layer, trace.values[k], trace.values[k + 1], engine_);
  }
  void apply(const Attention&, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    const AttentionWeights<T> three = attention_weights(architecture_, parameters_, stage);
    attend(three, trace.values[k], trace.attention, engine_);
    affine(three.slots[2], three.weights[2], trace.attention.u, trace.values[k + 1], engine_);
  }
  void apply(const Aggregate&, const Stage& stage, std::size_t, Trace<T>&) const { refuse_graphs(stage.place); }
  void apply(const Residual&, const Stage& stage, std::size_t k, Trace<T>& trace) const {
    std::vector<Trace<T>>& arms = trace.arms[k];
    arms.resize(2);
    for (Trace<T>& arm : arms) arm.input().assign(trace.values[k]);
    chain(stage.branch, arms[0]);
    chain(stage.shortcut, arms[1]);
    trace.values[k + 1].assign(arms[0].output());
    trace.values[k + 1] += arms[1].output();
  }

  const Architecture& architecture_;
  const Parameters<T>& parameters_;
  const PassOptions& options_;
  const Engine& engine_;
};

}  // namespace

template <std::floating_point T>
Tensor<T>& Trace<T>::input() {
  if (values.empty()) values.resize(1);
  return values.front();
}

template <std::floating_point T>
void forward(const Architecture& architecture, const Parameters<T>& parameters, const PassOptions& options,
             const Engine& engine, Trace<T>& trace) {
  Forward<T>(architecture, parameters, options, engine).chain(architecture.stages, trace);
}

template <std::floating_point T>
Trace<T> forward(const Architecture& architecture, const Parameters<T>& parameters, Tensor<T> input,
                 const PassOptions& options, const Engine& engine) {
  Trace<T> trace;
  trace.input() = std::move(input);
  forward(architecture, parameters, options, engine, trace);
  return trace;
}

template struct Trace<float>;
template struct Trace<double>;
template void forward(const Architecture&, const Parameters<float>&, const PassOptions&, const Engine&, Trace<float>&);
template void forward(const Architecture&, const Parameters<double>&, const PassOptions&, const Engine&,
                      Trace<double>&);
template Trace<float> forward(const Architecture&, const Parameters<float>&, Tensor<float>, const PassOptions&,
                              const Engine&);
template Trace<double> forward(const Architecture&, const Parameters<double>&, Tensor<double>, const PassOptions&,
                               const Engine&);

}  // namespace widelimit
