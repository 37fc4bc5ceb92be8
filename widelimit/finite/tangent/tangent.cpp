#include "widelimit/finite/tangent/tangent.hpp"

#include "widelimit/finite/layers/affine.hpp"
#include "widelimit/finite/layers/pooling.hpp"
#include "widelimit/finite/layers/self_attention.hpp"

namespace widelimit {

namespace {

template <std::floating_point T>
class TangentPass {
 public:
  TangentPass(const Architecture& architecture, const Parameters<T>& parameters, const Parameters<T>& change,
              const PassOptions& options, const Engine& engine)
      : architecture_(architecture), parameters_(parameters), change_(change), options_(options), engine_(engine) {}

  /// changes.values[0] is the change of the chain's input; `resting`: it is 0.
  void chain(const std::vector<Stage>& stages, const Trace<T>& trace, Trace<T>& changes, bool resting) const {
    changes.values.resize(stages.size() + 1);
    changes.arms.resize(stages.size());
    for (std::size_t k = 0; k < stages.size(); ++k) {
      stop_if_requested(options_.progress);
      const Step step{stages[k], trace, changes, k, resting};
      resting = resting && !stages[k].trains;
      if (resting) {
        step.rest();
        continue;
      }
      std::visit([&](const auto& layer) { apply(layer, step); }, stages[k].layer.value);
    }
  }

 private:
  struct Step {
    const Stage& stage;
    const Trace<T>& trace;
    Trace<T>& changes;
    std::size_t k;
    bool resting;  ///< change() is 0

    /// Sets the change of the output to 0.
    void rest() const {
      output().resize(input().count(), stage.out);
      output().clear();
    }
    [[nodiscard]] const Tensor<T>& input() const { return trace.values[k]; }
    [[nodiscard]] const Tensor<T>& change() const { return changes.values[k]; }
    [[nodiscard]] Tensor<T>& output() const { return changes.values[k + 1]; }
    [[nodiscard]] std::size_t slot() const { return static_cast<std::size_t>(stage.slot); }
  };

  /// multiplied(values): the input of the matrix, for the stage's input or its change.
  template <typename Multiplied>
  void weigh(const Step& step, const Multiplied& multiplied) const {
    const WeightSlot& slot = architecture_.slots[step.slot()];
    if (slot.trained) {
      affine(slot, change_.slots[step.slot()], multiplied(step.input()), step.output(), engine_);
    } else {
      step.rest();
    }
    // Without bias, which does not contribute to the derivative.
    if (!step.resting) {
      add_product(slot, parameters_.slots[step.slot()], multiplied(step.change()), step.output(), engine_);
    }
  }
  void apply(const Dense&, const Step& step) const {
    weigh(step, [](const Tensor<T>& values) -> const Tensor<T>& { return values; });
  }
  void apply(const Conv&, const Step& step) const {
    weigh(step, [&](const Tensor<T>& values) -> const Tensor<T>& {
      step.stage.windows->gather(values, step.changes.windows, engine_);
      return step.changes.windows;
    });
  }
  void apply(const Activation& activation, const Step& step) const {
    activate_signal(step.stage, activation, step.input(), step.change(), step.output(), engine_);
  }
  void apply(const Pool& layer, const Step& step) const {
    pool_tangent(layer.pooling, *step.stage.windows, step.input(), step.change(), step.output(), engine_);
  }
  void apply(const GlobalPool& layer, const Step& step) const {
    global_pool(layer, step.change(), step.output(), engine_);
  }
  void apply(const Flatten&, const Step& step) const { step.output().assign(step.change(), step.stage.out); }
  void apply(const LayerNorm&, const Step& step) const {
    normalise_signal(step.input(), step.change(), step.output(), engine_);
  }
  void apply(const Dropout& layer, const Step& step) const {
    if (options_.dropout) {
      drop(layer, step.stage.dropout, *options_.dropout, step.change(), step.output(), engine_);
    } else {
      step.output().assign(step.change());
    }
  }
  void apply(const Scale& layer, const Step& step) const { rescale(layer, step.change(), step.output(), engine_); }
  void apply(const Aggregate&, const Step& step) const { refuse_graphs(step.stage.place); }
  void apply(const Attention&, const Step& step) const {
    const AttentionWeights<T> weights = attention_weights(architecture_, parameters_, step.stage);
    attend(weights, step.input(), step.changes.attention, engine_);
    attend_tangent(weights, attention_weights(architecture_, change_, step.stage), step.input(), step.change(),
                   step.changes.attention, step.output(), engine_);
  }
  void apply(const Residual&, const Step& step) const {
    const std::vector<Trace<T>>& arms = step.trace.arms[step.k];
    std::vector<Trace<T>>& changes = step.changes.arms[step.k];
    changes.resize(2);
    for (Trace<T>& arm : changes) arm.input().assign(step.change());
    chain(step.stage.branch, arms[0], changes[0], step.resting);
    chain(step.stage.shortcut, arms[1], changes[1], step.resting);
    step.output().assign(changes[0].output());
    step.output() += changes[1].output();
  }

  const Architecture& architecture_;
  const Parameters<T>& parameters_;
  const Parameters<T>& change_;
  const PassOptions& options_;
  const Engine& engine_;
};

}  // namespace

template <std::floating_point T>
void tangent(const Architecture& architecture, const Parameters<T>& parameters, const Parameters<T>& change,
             const Trace<T>& trace, const PassOptions& options, const Engine& engine, Trace<T>& result) {
  result.input().resize(trace.values.front().count(), trace.values.front().shape());
  result.input().clear();
  TangentPass<T>(architecture, parameters, change, options, engine).chain(architecture.stages, trace, result, true);
}

template void tangent(const Architecture&, const Parameters<float>&, const Parameters<float>&, const Trace<float>&,
                      const PassOptions&, const Engine&, Trace<float>&);
template void tangent(const Architecture&, const Parameters<double>&, const Parameters<double>&, const Trace<double>&,
                      const PassOptions&, const Engine&, Trace<double>&);

}  // namespace widelimit
