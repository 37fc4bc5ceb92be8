#include "widelimit/finite/training/train.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/layers/convolution.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/trainer.hpp"

#include <cmath>
#include <new>

namespace widelimit {

namespace {

constexpr Index most_steps = Index{1} << 40;
constexpr Index most_records = Index{1} << 20;

void require(bool holds, std::string_view what, double value, std::string_view required) {
  if (!holds) fail(Code::usage, "{} = {:g}: it must be {}", what, value, required);
}

/// Returns the number of activations of one sample; `written`: including the inputs of convolution windows, in both
/// passes.
Index activation_values(const std::vector<Stage>& stages, bool written) {
  Index values = 0;
  for (const Stage& stage : stages) {
    const auto* conv = std::get_if<Conv>(&stage.layer.value);
    const bool windows = written && conv != nullptr;
    const Index patch_positions = windows ? stage.out.positions() * conv->kernel.rows * conv->kernel.cols : 0;
    values += stage.out.size() + 2 * patch_positions * stage.in.channels;
    values += activation_values(stage.branch, written) + activation_values(stage.shortcut, written);
  }
  return values;
}

/// Checks the memory for weights, initial weights, buffers of their size, and activations with their signals.
void check_memory(const Architecture& architecture, Index samples, const TrainOptions& options, const Engine& engine) {
  const Index values = activation_values(architecture.stages, !works_on_host(engine));
  const double number = options.precision == Precision::f32 ? 4 : 8;
  const int stored = options.optimiser.adaptive() ? 1 : 0;  // stored gradient
  const double copies =
      2.0 + options.optimiser.moments() + stored + (options.flow_time > 0 ? 1 : 0) + (options.linearised ? 2 : 0);
  const Index batch = options.batch == 0 ? samples : options.batch;
  const double bytes = number * (copies * static_cast<double>(parameter_count(architecture)) +
                                 2.0 * static_cast<double>(batch) * static_cast<double>(values));
  require_memory(bytes, options.memory, "the weights and activations of training",
                 "choose a smaller width or batch, or precision f32");
}

void check_data(const Architecture& architecture, const TrainData& data, const TrainOptions& options) {
  const Index outputs = architecture.output.size();
  if (data.x.count() == 0) fail(Code::input, "there are no samples to train on");
  if (data.y.rows != data.x.count()) {
    fail(Code::input, "{} samples have {} rows of targets; give one for each", data.x.count(), data.y.rows);
  }
  if (data.y.cols != outputs) {
    fail(Code::input, "the network ends with {} values, the targets have {}; end it with a dense layer", outputs,
         data.y.cols);
  }
  require_targets(data.y, options.loss);
  if (!data.test) return;
  if (data.test->shape != data.x.shape) {
    fail(Code::input, "test samples of shape {} are not of the shape {} trained on", to_string(data.test->shape),
         to_string(data.x.shape));
  }
  if (data.test_y.rows == 0) return;
  if (data.test_y.rows != data.test->count() || data.test_y.cols != outputs) {
    fail(Code::input, "{} test samples of {} outputs have {} rows of {} targets", data.test->count(), outputs,
         data.test_y.rows, data.test_y.cols);
  }
  require_targets(data.test_y, options.loss);
}

template <std::floating_point T>
void run_training(const TrainData& data, const TrainOptions& options, const Engine& engine, TrainedNetwork& trained) {
  Trainer<T> trainer(trained.architecture, data, options, engine);
  if (options.flow_time > 0) {
    trainer.flow();
  } else {
    trainer.descend(trained);
  }
  trainer.finish(trained);
}

/// Throws Error{usage} if the requested training cannot continue `from`.
void require_continues(const TrainedNetwork& from, const TrainedNetwork& requested, const TrainOptions& options) {
  const auto same = [&](bool equal, std::string_view what) {
    if (equal) return;
    fail(Code::usage, "the {} has another {}; choose the same",
         from.state ? "training to resume" : "network to start from", what);
  };
  same(from.network == requested.network, "network");
  same(from.shape == requested.shape, "shape of samples");
  same(from.widths == requested.widths, "width, parameterisation, initialisation or number of outputs");
  same(from.seed == requested.seed, "seed");
  same(from.centred == requested.centred && from.linearised == requested.linearised, "function, centred or linearised");
  same(from.precision() == options.precision, "precision");
  if (!from.state) {
    const bool scaled = from.regulariser == Regulariser::output;
    same(scaled == (requested.regulariser == Regulariser::output),
         "output layer, whose scaled weights it trains or not");
    return;
  }
  same(from.regulariser == requested.regulariser, "regulariser");
  same(from.state->optimiser.kind == options.optimiser.kind &&
           from.state->optimiser.moments() == options.optimiser.moments(),
       "optimiser");
  if (from.summary.steps > options.steps) {
    fail(Code::usage, "the training has already taken {} steps, more than {}; choose a larger total number of steps",
         from.summary.steps, options.steps);
  }
}

void require_initial(const Architecture& architecture, const AnyParameters& initial, Precision precision) {
  const bool single = std::holds_alternative<Parameters<float>>(initial);
  if (single != (precision == Precision::f32)) {
    fail(Code::usage, "the initial weights have another precision; choose {}", single ? "f32" : "f64");
  }
  std::visit([&](const auto& weights) { require_match(architecture, weights); }, initial);
}

/// Returns the options with epochs converted to steps.
TrainOptions by_steps(TrainOptions options, Index samples) {
  options.steps = options.steps_on(samples);
  options.epochs.reset();
  options.validate();
  return options;
}

}  // namespace

void TrainOptions::validate() const {
  loss.validate();
  require(std::isfinite(lambda) && lambda >= 0, "lambda", lambda, "0 or a positive number");
  if (rate) require(std::isfinite(*rate) && *rate > 0, "rate", *rate, "a positive number");
  optimiser.validate();
  schedule.validate();
  augmentation.validate();
  require(std::isfinite(flow_time) && flow_time >= 0, "the time of the flow", flow_time, "0 or a positive number");
  require(std::isfinite(tolerance) && tolerance > 0, "tolerance", tolerance, "a positive number");
  if (steps < 0 || steps > most_steps) fail(Code::usage, "steps = {}: choose 0 to {}", steps, most_steps);
  if (epochs && (*epochs < 0 || *epochs > most_steps)) {
    fail(Code::usage, "epochs = {}: choose 0 to {}", *epochs, most_steps);
  }
  if (batch < 0) fail(Code::usage, "batch = {}: choose the samples of a step, or 0 for all", batch);
  if (records < 2 || records > most_records) fail(Code::usage, "records = {}: choose 2 to {}", records, most_records);
  for (std::size_t k = 0; k < record_at.size(); ++k) {
    const bool beyond = !epochs && record_at[k] > steps;
    if (record_at[k] < 0 || beyond || (k > 0 && record_at[k] <= record_at[k - 1])) {
      fail(Code::usage, "step {} cannot be recorded here; give ascending steps from 0 to {}", record_at[k], steps);
    }
  }
  if (flow_time > 0 && !record_at.empty()) {
    fail(Code::usage, "a gradient flow has adaptive steps; choose the number of records, not their steps");
  }
  if (flow_time > 0 && (optimiser.momentum > 0 || batch > 0)) {
    fail(Code::usage, "a gradient flow has neither momentum nor batches; leave them out");
  }
  if (flow_time > 0 && (!optimiser.plain() || !schedule.constant() || epochs)) {
    fail(Code::usage, "a gradient flow has no optimiser, schedule, weight decay or epochs; leave them out");
  }
  if (flow_time > 0 && (checkpoint || from != nullptr || augmentation.any())) {
    fail(Code::usage, "a gradient flow has neither checkpoints nor augmentation; take steps for them");
  }
  if (augmentation.any() && (centred || regulariser == Regulariser::aux)) {
    fail(Code::usage, "f − f₀ and auxiliary outputs require the original samples; leave out the augmentation");
  }
  if (initial == nullptr && initial_step != 0) fail(Code::usage, "initial step {} needs initial weights", initial_step);
  if (initial != nullptr && (initial_step < 0 || (!epochs && initial_step > steps))) {
    fail(Code::usage, "initial step {}: choose 0 to {}", initial_step, steps);
  }
  if (initial != nullptr && (from != nullptr || checkpoint || centred || flow_time > 0)) {
    fail(Code::usage, "training from given weights has neither checkpoints, f − f₀ nor a flow; leave them out");
  }
  if (checkpoint_every < 0) fail(Code::usage, "a checkpoint every {} steps; choose 0 or more", checkpoint_every);
  if (regulariser == Regulariser::aux && optimiser.kind != OptimiserKind::sgd) {
    fail(Code::usage,
         "the auxiliary outputs of the regulariser 'aux' are trained by sgd, not by {}; choose another "
         "regulariser or optimiser",
         to_string(optimiser.kind));
  }
}

Index TrainOptions::steps_on(Index samples) const {
  if (!epochs) return steps;
  const Index in_epoch = batch == 0 || batch >= samples ? 1 : samples / batch;
  if (*epochs > most_steps / in_epoch) {
    fail(Code::usage, "{} epochs of {} steps; choose fewer epochs", *epochs, in_epoch);
  }
  return *epochs * in_epoch;
}

RecordSchedule record_schedule(const TrainOptions& options, Index numbers) {
  const auto total = static_cast<double>(options.steps);
  if (options.record_at.empty()) return {total, bounded_records(options.records, numbers)};
  RecordSchedule schedule(options.steps, options.record_at);
  const Index most = bounded_records(schedule.count(), numbers);
  if (schedule.count() > most) {
    fail(Code::resource, "outputs at {} steps exceed the memory limit of records; choose {} or fewer", schedule.count(),
         most);
  }
  return schedule;
}

double default_rate(const Network& network, const TrainData& data, const TrainOptions& options, const Engine& engine) {
  options.validate();
  TrainOptions alone = options;
  alone.rate.reset();
  alone.steps = 0;
  alone.epochs.reset();
  alone.flow_time = 0;
  alone.record_at.clear();
  alone.record_outputs = false;
  alone.checkpoint = {};
  alone.from = nullptr;
  return train(network, data, alone, engine).summary.rate;
}

TrainedNetwork train(const Network& network, const TrainData& data, const TrainOptions& requested,
                     const Engine& engine) {
  const Interruptible interruptible(requested.progress);
  requested.validate();
  const TrainOptions options = by_steps(requested, data.x.count());
  const auto begin = Clock::now();
  TrainedNetwork trained;
  trained.network = network;
  trained.shape = data.x.shape;
  trained.widths = {.hidden = options.width,
                    .outputs = std::max<Index>(data.y.cols, 1),
                    .parameterisation = options.parameterisation,
                    .initialisation = options.initialisation,
                    .layers = options.layer_widths};
  trained.regulariser = options.regulariser;
  trained.seed = options.seed;
  trained.centred = options.centred;
  trained.linearised = options.linearised;
  trained.architecture = trained_architecture(network, data.x.shape, trained.widths, options.regulariser);
  if (options.flow_time > 0 && trained.architecture.dropouts > 0) {
    fail(Code::usage, "a gradient flow is not defined with dropout; leave out the dropout or the flow");
  }
  check_data(trained.architecture, data, options);
  if (!trained.architecture.trains()) {
    fail(Code::input,
         "no layer of the network is trained, so that there is nothing to train; write one without frozen");
  }
  if (options.augmentation.any() && trained.architecture.input.positions() == 1) {
    fail(Code::usage, "augmentation flips and crops images, but the network reads vectors; leave it out");
  }
  if (options.from != nullptr) require_continues(*options.from, trained, options);
  if (options.initial != nullptr) require_initial(trained.architecture, *options.initial, options.precision);
  check_memory(trained.architecture, data.x.count(), options, engine);
  try {
    if (options.precision == Precision::f32) {
      run_training<float>(data, options, engine, trained);
    } else {
      run_training<double>(data, options, engine, trained);
    }
  } catch (const std::bad_alloc&) {
    fail(Code::resource, "a network of {} weights does not fit in memory; choose a smaller width or batch",
         parameter_count(trained.architecture));
  }
  trained.summary.seconds = seconds_since(begin);
  return trained;
}

}  // namespace widelimit
