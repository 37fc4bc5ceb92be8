#include "widelimit/analysis/evolution/evolution.hpp"

#include "widelimit/analysis/evolution/gates.hpp"
#include "widelimit/analysis/local_elasticity.hpp"
#include "widelimit/analysis/spectrum.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/tangent/ntk_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace widelimit {

namespace {

/// Gates of the first and of the previous checkpoint.
struct Gates {
  std::vector<bool> start;
  std::vector<bool> last;
};

/// Observer that evaluates a training at its checkpoints.
class CheckpointObserver {
 public:
  CheckpointObserver(const TrainData& data, const Probe& probe, const EvolutionOptions& options, const Engine& engine,
                     Evolution& result)
      : data_(data),
        probe_(probe),
        options_(options),
        engine_(engine),
        result_(result),
        steps_(options.steps(data.x.count())),
        in_epoch_(options.steps_in_epoch(data.x.count())),
        targets_(probe.y.rows, probe.y.cols) {
    for (Index i = 0; i < probe.y.rows; ++i) std::copy_n(probe.y.row(i), probe.y.cols, targets_.view().row(i));
  }

  [[nodiscard]] const std::vector<Index>& steps() const { return steps_; }
  [[nodiscard]] const std::map<Index, AnyParameters>& weights() const { return weights_; }

  void observe(const TrainStep& step) {
    if (!due(step.step)) return;
    std::visit([&](const auto* w) { measure(*step.architecture, *w, step.step, step.rate); }, step.parameters);
  }

  void observe_end(const TrainedNetwork& trained, double rate) {
    if (!due(trained.summary.steps)) return;
    std::visit([&](const auto& w) { measure(trained.architecture, w, trained.summary.steps, rate); },
               trained.parameters);
  }

 private:
  [[nodiscard]] bool due(Index step) const {
    const std::size_t next = result_.checkpoints.size();
    return next < steps_.size() && steps_[next] == step;
  }

  template <std::floating_point T>
  void measure(const Architecture& architecture, const Parameters<T>& w, Index step, double rate) {
    const Tensor<T> x = read_samples<T>(probe_.x, architecture.input);
    if (step == 0) start_ = w;
    OutputKernelOptions how = options_.kernel;
    how.seed = options_.train.seed;
    how.progress = options_.train.progress;
    OutputKernels found = output_kernels(architecture, w, x, how, engine_);
    Checkpoint point;
    point.step = step;
    point.epoch = static_cast<double>(step) / static_cast<double>(in_epoch_);
    point.kernel_error = found.relative_error;
    set_kernel_measurements(found.kernels, point);
    set_sharpness(architecture, w, x, rate, point);
    const auto& start = std::get<Parameters<T>>(start_);
    point.moved = std::sqrt(squared_distance(w, start, engine_));
    const double size = std::sqrt(squared_distance(start, zero_parameters<T>(architecture), engine_));
    point.moved_share = size > 0 ? point.moved / size : 0.0;
    std::vector<bool> gates =
        open_gates(architecture, forward(architecture, w, x, {.progress = options_.train.progress}, engine_));
    if (step == 0) gates_.start = gates;
    point.gates_changed = share_changed(gates_.start, gates);
    if (step > 0) point.gates_since_last = share_changed(gates_.last, gates);
    gates_.last = std::move(gates);
    const bool branches = options_.tangent || options_.barrier;
    if (branches && (options_.branch_at.empty() ? step < steps_.back() : branches_at(step))) weights_[step] = w;
    result_.checkpoints.push_back(std::move(point));
    result_.kernels.push_back(std::move(found.kernels));
  }

  [[nodiscard]] bool branches_at(Index step) const {
    return std::find(options_.branch_at.begin(), options_.branch_at.end(), step) != options_.branch_at.end();
  }

  /// Sets all measurements that depend only on the kernels.
  void set_kernel_measurements(const std::vector<Matrix<double>>& kernels, Checkpoint& point) const {
    point.kernel_norm = kernel_norm(kernels);
    if (!(point.kernel_norm > 0)) {
      fail(Code::numerical, "the tangent kernel of the probe samples is 0 at step {}: all gradients vanish",
           point.step);
    }
    if (!result_.kernels.empty()) {
      const Checkpoint& before = result_.checkpoints.back();
      point.distance = kernel_distance(result_.kernels.front(), kernels);
      point.velocity = kernel_distance(result_.kernels.back(), kernels) / (point.epoch - before.epoch);
    }
    for (std::size_t k = 0; kernels.size() > 1 && k < kernels.size(); ++k) {
      const bool first = result_.kernels.empty();
      point.class_distances.push_back(
          first ? 0.0
                : kernel_distance(std::span(result_.kernels.front()).subspan(k, 1), std::span(kernels).subspan(k, 1)));
    }
    Matrix<double> mean = mean_kernel(kernels);
    if (!probe_.classes.empty()) {
      point.classes = class_means(mean.view(), probe_.classes);
      try {
        point.elasticity = local_elasticity(mean.view(), probe_.classes).ratio;
      } catch (const Error&) {
        // The ratio is undefined if the means cancel or a sample has no gradient.
        point.elasticity.reset();
      }
    }
    point.alignment = alignment(AnyMatrix(std::move(mean)), targets_);
  }

  /// Extrapolates from the probe set: λ_max of a kernel is proportional to the number of samples.
  template <std::floating_point T>
  void set_sharpness(const Architecture& architecture, const Parameters<T>& w, const Tensor<T>& x, double rate,
                     Checkpoint& point) const {
    const auto found = largest_eigenvalue(architecture, w, x, {}, engine_, options_.train.progress);
    if (!found) return;
    point.largest_eigenvalue = *found * static_cast<double>(data_.x.count()) / static_cast<double>(x.count());
    const std::optional<double> curvature = largest_curvature(options_.train.loss.kind);
    if (curvature && !options_.train.optimiser.adaptive()) {
      point.sharpness = rate * *curvature * *point.largest_eigenvalue;
    }
  }

  const TrainData& data_;
  const Probe& probe_;
  const EvolutionOptions& options_;
  const Engine& engine_;
  Evolution& result_;
  std::vector<Index> steps_;
  Index in_epoch_;
  Matrix<double> targets_;
  AnyParameters start_;
  Gates gates_;
  std::map<Index, AnyParameters> weights_;  ///< weights of checkpoints with branches
};

void fill_record(const TrainingRecord& record, std::vector<Checkpoint>& checkpoints) {
  for (Checkpoint& point : checkpoints) {
    const auto found = std::lower_bound(record.steps.begin(), record.steps.end(), point.step);
    if (found == record.steps.end() || *found != point.step) continue;
    const auto k = static_cast<std::size_t>(found - record.steps.begin());
    point.loss = record.loss[k];
    if (k < record.accuracy.size()) point.accuracy = record.accuracy[k];
    if (k < record.test_accuracy.size()) point.test_accuracy = record.test_accuracy[k];
  }
}

Matrix<double> distance_matrix(const std::vector<std::vector<Matrix<double>>>& kernels) {
  const Index count = std::ssize(kernels);
  Matrix<double> distances(count, count);
  for (Index t = 0; t < count; ++t) {
    for (Index s = t + 1; s < count; ++s) {
      interruption_point();
      distances(t, s) = distances(s, t) = kernel_distance(kernels[usize(t)], kernels[usize(s)]);
    }
  }
  return distances;
}

void check_probe(const TrainData& data, const Probe& probe) {
  const Index n = probe.x.count();
  if (n < 2) fail(Code::input, "the probe set has {} samples; it needs at least two", n);
  if (probe.x.shape.size() != data.x.shape.size()) {
    fail(Code::input, "probe samples have shape {}, but training samples have {}", to_string(probe.x.shape),
         to_string(data.x.shape));
  }
  if (probe.y.rows != n || probe.y.cols != data.y.cols) {
    fail(Code::input, "{} probe samples have {} rows of {} targets; each sample needs one row of {}", n, probe.y.rows,
         probe.y.cols, data.y.cols);
  }
  if (!probe.classes.empty() && std::ssize(probe.classes) != n) {
    fail(Code::input, "{} classes for {} probe samples", probe.classes.size(), n);
  }
}

/// Computes tangent models and children of the checkpoints that have branches.
void grow_branches(const Network& network, const TrainData& data, const EvolutionOptions& options,
                   const std::map<Index, AnyParameters>& weights, const Engine& engine, Evolution& result) {
  TrainOptions branch = options.train;
  branch.rate = result.trained.summary.rate;
  for (const auto& [step, at] : weights) {
    if (options.tangent) {
      TrainedNetwork there = result.trained;
      there.parameters = at;
      TangentTraining found = tangent_training(there, data, *options.tangent, engine, options.train.progress);
      found.step = step;
      if (options.tangent->descent) {
        TrainOptions linear = branch;
        linear.linearised = true;
        const std::array<std::uint64_t, 1> same_batches{branch.seed};
        const auto model = spawn_children(network, data, linear, at, step, same_batches, engine);
        const TrainingRecord& record = model.front().record;
        const bool usable = model.front().summary.finished();
        if (usable && !record.accuracy.empty()) found.descent_accuracy = record.accuracy.back();
        if (usable && !record.test_accuracy.empty()) found.descent_test_accuracy = record.test_accuracy.back();
        if (!usable) {
          result.remarks.push_back(fmt::format("the network linearised at step {} did not finish its training: {}",
                                               step, model.front().summary.message));
        }
      }
      result.tangent.push_back(std::move(found));
    }
    if (options.barrier) {
      const std::array<std::uint64_t, 2> seeds{branch.seed + 1, branch.seed + 2};
      const auto children = spawn_children(network, data, branch, at, step, seeds, engine);
      if (!children[0].summary.finished() || !children[1].summary.finished()) {
        result.remarks.push_back(
            fmt::format("a child of step {} did not finish its training; its "
                        "error barrier is missing",
                        step));
        continue;
      }
      ErrorBarrier found =
          error_barrier(children[0], children[1], data, branch.loss, *options.barrier, engine, options.train.progress);
      found.step = step;
      result.barriers.push_back(std::move(found));
    }
  }
}

void add_remarks(const EvolutionOptions& options, const Evolution& result, std::vector<std::string>& remarks) {
  double error = 0;
  for (const Checkpoint& point : result.checkpoints) error = std::max(error, point.kernel_error);
  if (error > 0) {
    remarks.push_back(
        fmt::format("kernels are sketched by {} random directions, with a relative standard error of {:.2g}; distances "
                    "below {:.1g} may be noise",
                    options.kernel.projections, error, error * error));
  }
  if (options.tangent && options.train.loss.kind != LossKind::squared) {
    remarks.push_back(fmt::format("tangent training uses the squared loss, but the training uses the {} loss",
                                  to_string(options.train.loss.kind)));
  }
  if (options.train.optimiser.momentum > 0) {
    remarks.emplace_back("the stability limit 2 of the sharpness applies to descent without momentum");
  }
}

}  // namespace

Evolution evolution(const Network& network, const TrainData& data, const Probe& probe, const EvolutionOptions& options,
                    const Engine& engine) {
  const Interruptible interruptible(options.train.progress);
  const auto begin = Clock::now();
  options.validate();
  check_probe(data, probe);
  if (options.barrier) require_children(options.train, data.x.count());
  Evolution result;
  CheckpointObserver recorder(data, probe, options, engine, result);
  const double kernels = options.kernel.outputs == KernelOutputs::each ? static_cast<double>(data.y.cols) : 1.0;
  const auto n = static_cast<double>(probe.x.count());
  require_memory(8 * n * n * kernels * static_cast<double>(recorder.steps().size()), options.train.memory,
                 "the kernels of all checkpoints", "choose fewer checkpoints or probe samples");
  TrainOptions train_options = options.train;
  train_options.record_at = recorder.steps();
  train_options.record_outputs = false;
  double rate = 0;
  train_options.observer = [&](const TrainStep& step) {
    rate = step.rate;
    recorder.observe(step);
    if (options.train.observer) options.train.observer(step);
  };
  result.trained = train(network, data, train_options, engine);
  if (result.trained.summary.finished()) recorder.observe_end(result.trained, rate);
  fill_record(result.trained.record, result.checkpoints);
  result.distances = distance_matrix(result.kernels);
  if (result.trained.summary.finished()) {
    grow_branches(network, data, options, recorder.weights(), engine, result);
  }
  add_remarks(options, result, result.remarks);
  if (!options.keep_kernels) result.kernels.clear();
  result.seconds = seconds_since(begin);
  return result;
}

namespace {

constexpr Index most_checkpoints = 10'000;

}  // namespace

void EvolutionOptions::validate() const {
  train.validate();
  if (train.linearised) fail(Code::usage, "the kernel of a linearised network does not change in training");
  if (train.flow_time > 0) fail(Code::usage, "checkpoints require training in steps, not gradient flow");
  if (train.from != nullptr || train.initial != nullptr) {
    fail(Code::usage, "an evolution starts with a new training; omit the earlier training");
  }
  if (!train.keep_record)
    fail(Code::usage,
         "an evolution evaluates all samples at its checkpoints; it requires the evaluation of losses on all samples");
  if (checkpoints < 2 || checkpoints > most_checkpoints) {
    fail(Code::usage, "the number of checkpoints is {}; choose 2 to {}", checkpoints, most_checkpoints);
  }
  if (!at.empty() && !at_epochs.empty()) fail(Code::usage, "checkpoints are given in steps or in epochs, not in both");
  if (kernel.projections < 0 || kernel.projections == 1) {
    fail(Code::usage, "the number of random directions is {}; choose 0 for exact kernels, or at least 2",
         kernel.projections);
  }
  if (tangent) tangent->validate();
  if (barrier) barrier->validate();
  if (!branch_at.empty() && !tangent && !barrier) {
    fail(Code::usage, "branch checkpoints need tangent training or error barriers; request one of them");
  }
}

Index EvolutionOptions::steps_in_epoch(Index samples) const {
  return train.batch == 0 || train.batch >= samples ? 1 : samples / train.batch;
}

std::vector<Index> EvolutionOptions::steps(Index samples) const {
  const Index total = train.steps_on(samples);
  std::vector<Index> result = at;
  const auto in_epoch = static_cast<double>(steps_in_epoch(samples));
  for (const double epoch : at_epochs) {
    if (!std::isfinite(epoch)) fail(Code::usage, "epoch {} is not finite", epoch);
    result.push_back(static_cast<Index>(std::llround(epoch * in_epoch)));
  }
  if (result.empty()) {
    for (Index k = 0; k < checkpoints; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(checkpoints - 1);
      result.push_back(static_cast<Index>(std::llround(share * share * static_cast<double>(total))));
    }
  }
  for (std::size_t k = 0; k < result.size(); ++k) {
    if (result[k] < 0 || result[k] > total || (k > 0 && result[k] < result[k - 1])) {
      fail(Code::usage, "checkpoint step {} is invalid; give ascending steps from 0 to {}", result[k], total);
    }
  }
  result.insert(result.begin(), 0);
  result.push_back(total);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  for (const Index step : branch_at) {
    if (!std::binary_search(result.begin(), result.end(), step)) {
      fail(Code::usage, "branch step {} is not a checkpoint; add it to the checkpoints", step);
    }
  }
  return result;
}

}  // namespace widelimit
