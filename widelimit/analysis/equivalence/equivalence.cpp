#include "widelimit/analysis/equivalence/equivalence.hpp"

#include "widelimit/analysis/equivalence/companion_machine.hpp"
#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> machine_kernel_names{"limit", "start"};
constexpr Index most_seeds = 10000;

/// Reports the steps of all networks as one count.
class AllSteps final : public Progress {
 public:
  AllSteps(Progress* outer, Index total) : outer_(outer), total_(total) {}
  void after(Index steps) { before_ += steps; }
  bool update(std::int64_t done, std::int64_t, std::string_view unit) override {
    return outer_ == nullptr || outer_->update(before_ + done, total_, unit);
  }

 private:
  Progress* outer_;
  Index total_;
  Index before_ = 0;
};

/// Forwards stop requests without progress reports: for work that is not a training step.
class StopOnly final : public Progress {
 public:
  explicit StopOnly(Progress* outer) : outer_(outer) {}
  bool update(std::int64_t, std::int64_t, std::string_view) override {
    return outer_ == nullptr || outer_->update(0, 0, "");
  }

 private:
  Progress* outer_;
};

/// Returns whether the trained function starts at 0, like the machine.
bool begins_at_zero(Regulariser regulariser) {
  return regulariser != Regulariser::output && regulariser != Regulariser::weights;
}

/// Returns the steps that training will record.
std::vector<Index> recorded_steps(const TrainOptions& options, Index numbers) {
  RecordSchedule schedule = record_schedule(options, numbers);
  std::vector<Index> steps;
  while (!schedule.done()) {
    const auto step = static_cast<Index>(std::ceil(schedule.next()));
    steps.push_back(step);
    (void)schedule.due(static_cast<double>(step));
  }
  return steps;
}

std::vector<Index> watched_samples(const TrainData& data) {
  std::vector<Index> watched{0};
  for (Index i = 1; i < data.y.rows; ++i) {
    if (data.y(i, 0) != data.y(0, 0)) {
      watched.push_back(i);
      break;
    }
  }
  return watched;
}

double largest_gap(const double* f, const double* g, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) largest = std::max(largest, std::abs(f[i] - g[i]));
  return largest;
}

/// Returns a learning rate that is stable for all widths; under `output` kernels grow with the width.
double common_rate(const Network& network, const TrainData& data, const EquivalenceOptions& options,
                   const Engine& engine) {
  double least = std::numeric_limits<double>::infinity();
  for (const Index width : options.widths) {
    TrainOptions how = options.train;
    how.width = width;
    least = std::min(least, default_rate(network, data, how, engine));
  }
  return least;
}

/// Compares a network and its machine step by step.
class StepwiseDifference {
 public:
  StepwiseDifference(const TrainingRecord& net, const MachinePath& machine, const TrainData& data)
      : net_(net), machine_(machine), outputs_(data.y.cols) {}

  void measure(EquivalenceRun& run) const {
    for (Index t = 0; t < net_.count(); ++t) {
      run.train_difference = std::max(run.train_difference, train_gap(t));
      run.test_difference = std::max(run.test_difference, test_gap(t));
    }
    run.difference = std::max(run.train_difference, run.test_difference);
    run.final_difference = std::max(train_gap(net_.count() - 1), test_gap(net_.count() - 1));
    run.loss = net_.loss.back();
    run.machine_loss = machine_.loss.back();
    run.weight_distance = net_.distance.back();
  }

  [[nodiscard]] EquivalencePath path(Index width, const std::vector<Index>& watched) const {
    const Index rows = net_.count();
    EquivalencePath path{.width = width,
                         .difference = {},
                         .loss = net_.loss,
                         .machine_loss = machine_.loss,
                         .outputs = Matrix<double>(rows, std::ssize(watched)),
                         .machine_outputs = Matrix<double>(rows, std::ssize(watched))};
    for (Index t = 0; t < rows; ++t) {
      path.difference.push_back(std::max(train_gap(t), test_gap(t)));
      for (std::size_t k = 0; k < watched.size(); ++k) {
        path.outputs(t, static_cast<Index>(k)) = train_row(t)[watched[k] * outputs_];
        path.machine_outputs(t, static_cast<Index>(k)) = machine_.train(t, watched[k] * outputs_);
      }
    }
    return path;
  }

 private:
  [[nodiscard]] const double* train_row(Index t) const { return net_.outputs.data() + t * machine_.train.cols(); }
  [[nodiscard]] double train_gap(Index t) const {
    return largest_gap(train_row(t), machine_.train.view().row(t), machine_.train.cols());
  }
  [[nodiscard]] double test_gap(Index t) const {
    const Index values = machine_.test.cols();
    return values == 0 ? 0.0 : largest_gap(net_.test_outputs.data() + t * values, machine_.test.view().row(t), values);
  }

  const TrainingRecord& net_;
  const MachinePath& machine_;
  Index outputs_;
};

/// Executes all runs of one call.
class Comparison {
 public:
  Comparison(const Network& network, const TrainData& data, const EquivalenceOptions& options, const Engine& engine)
      : network_(network),
        data_(data),
        options_(options),
        engine_(engine),
        progress_(options.train.progress, options.train.steps * options.seeds * std::ssize(options.widths)),
        stop_only_(options.train.progress) {}

  Equivalence run() {
    const Index points = data_.x.count() + (data_.test ? data_.test->count() : 0);
    result_.steps = recorded_steps(options_.train, points * data_.y.cols);
    result_.watched = watched_samples(data_);
    if (options_.kernel == MachineKernel::limit) {
      kernels_ = limit_kernels(network_, data_, options_.train, engine_);
      result_.kernel_seconds = kernels_.seconds;
    }
    for (Index s = 0; s < options_.seeds; ++s) {
      for (const Index width : options_.widths) compare(width, s);
    }
    return std::move(result_);
  }

 private:
  /// With the limit kernel, one machine serves all networks that start at 0, and all seeds if each step uses all
  /// samples.
  [[nodiscard]] bool shared() const {
    return options_.kernel == MachineKernel::limit && begins_at_zero(options_.train.regulariser);
  }
  [[nodiscard]] bool uses_full_batches() const {
    return options_.train.batch == 0 || options_.train.batch == data_.x.count();
  }

  void compare(Index width, Index number) {
    TrainOptions how = options_.train;
    how.width = width;
    how.seed += static_cast<std::uint64_t>(number);
    how.centred = begins_at_zero(how.regulariser);
    how.record_outputs = true;
    how.progress = &progress_;
    EquivalenceRun run{.width = width, .seed = how.seed};
    const TrainedNetwork trained = train(network_, data_, how, engine_);
    progress_.after(how.steps);
    run.seconds = trained.summary.seconds;
    how.progress = &stop_only_;
    if (trained.summary.finished()) {
      choose_machine(trained, how);
      if (machine_.summary.converged()) {
        const StepwiseDifference both(trained.record, machine_, data_);
        both.measure(run);
        if (number == 0) result_.paths.push_back(both.path(width, result_.watched));
        if (options_.parts) split(trained, how, run);
      } else {
        run.trouble = fmt::format("the machine diverged: {}", machine_.summary.message);
      }
    } else {
      run.trouble =
          fmt::format("the network {}: {}", trained.summary.ending == TrainEnding::dead ? "is dead" : "diverged",
                      trained.summary.message);
    }
    result_.runs.push_back(std::move(run));
  }

  [[nodiscard]] MachinePath follow(const CompanionKernels& kernels, const TrainedNetwork& trained,
                                   const TrainOptions& how) const {
    Start start;
    if (!begins_at_zero(how.regulariser)) {
      const Index outputs = data_.y.cols;
      start.offset = {trained.record.outputs.data(), data_.x.count(), outputs, outputs};
      if (data_.test) {
        start.test_offset = {trained.record.test_outputs.data(), data_.test->count(), outputs, outputs};
      }
    }
    return follow_machine(kernels, data_, how, trained.record.steps, start, engine_);
  }

  CompanionKernels own_kernels(const TrainedNetwork& trained) {
    CompanionKernels own = start_kernels(trained, data_, engine_, &stop_only_);
    result_.kernel_seconds += own.seconds;
    return own;
  }

  /// Trains the machine of this network unless the current one is valid for it.
  void choose_machine(const TrainedNetwork& trained, const TrainOptions& how) {
    if (shared() && machine_seed_ == (uses_full_batches() ? options_.train.seed : how.seed)) return;
    if (options_.kernel == MachineKernel::start) kernels_ = own_kernels(trained);
    machine_ = follow(kernels_, trained, how);
    machine_seed_ = how.seed;
  }

  void split(const TrainedNetwork& trained, const TrainOptions& how, EquivalenceRun& run) {
    const MachinePath own = follow(own_kernels(trained), trained, how);
    if (!own.summary.converged()) {
      run.trouble = fmt::format("the machine of the network's own kernel diverged: {}", own.summary.message);
      return;
    }
    EquivalenceRun differences;
    StepwiseDifference(trained.record, own, data_).measure(differences);
    run.movement_part = differences.difference;
    run.kernel_part =
        std::max(largest_gap(own.train.data(), machine_.train.data(), own.train.rows() * own.train.cols()),
                 largest_gap(own.test.data(), machine_.test.data(), own.test.rows() * own.test.cols()));
  }

  const Network& network_;
  const TrainData& data_;
  const EquivalenceOptions& options_;
  const Engine& engine_;
  AllSteps progress_;
  StopOnly stop_only_;
  CompanionKernels kernels_;
  MachinePath machine_;
  std::optional<std::uint64_t> machine_seed_;
  Equivalence result_;
};

}  // namespace

std::string_view to_string(MachineKernel kernel) { return machine_kernel_names[static_cast<std::size_t>(kernel)]; }
MachineKernel parse_machine_kernel(std::string_view text) {
  return parse_choice<MachineKernel>("kernel of the machine", machine_kernel_names, text);
}

void EquivalenceOptions::validate() const {
  if (widths.empty()) fail(Code::usage, "no width is given; the comparison needs at least one");
  for (const Index width : widths) {
    if (width < 1) fail(Code::usage, "width {} is invalid; choose 1 or more", width);
  }
  if (std::set<Index>(widths.begin(), widths.end()).size() != widths.size()) {
    fail(Code::usage, "widths must be distinct");
  }
  if (seeds < 1 || seeds > most_seeds) fail(Code::usage, "seeds = {}: choose 1 to {}", seeds, most_seeds);
  if (parts && kernel != MachineKernel::limit) {
    fail(Code::usage,
         "the parts of the difference require the limit kernel; omit the parts or choose the limit kernel");
  }
  if (!train.optimiser.plain() || !train.schedule.constant() || train.epochs || train.flow_time != 0) {
    fail(Code::usage,
         "the comparison requires plain gradient descent; omit optimiser, momentum, schedule, epochs and "
         "flow");
  }
  if (train.parameterisation != Parameterisation::ntk) {
    fail(Code::usage, "the standard parameterisation has no limit to compare with; choose ntk");
  }
  train.validate();
}

std::string Equivalence::trouble() const {
  for (const EquivalenceRun& run : runs) {
    if (!run.trouble.empty()) return fmt::format("width {}, seed {}: {}", run.width, run.seed, run.trouble);
  }
  return {};
}

Equivalence equivalence(const Network& network, const TrainData& data, const EquivalenceOptions& options,
                        const Engine& engine) {
  options.validate();
  const Widths smallest{.hidden = options.widths.front(), .outputs = std::max<Index>(data.y.cols, 1)};
  if (Architecture::make(network, data.x.shape, smallest).dropouts > 0) {
    fail(Code::input,
         "the comparison does not support dropout, whose masks have no counterpart in the machine; remove dropout "
         "layers");
  }
  if (data.y.rows == 0) fail(Code::input, "there are no samples to train on");
  EquivalenceOptions chosen = options;
  if (!chosen.train.rate) chosen.train.rate = common_rate(network, data, options, engine);
  Equivalence result = Comparison(network, data, chosen, engine).run();
  result.rate = *chosen.train.rate;
  summarise_by_width(result, options.widths, options.parts);
  return result;
}

namespace {

using Distance = double EquivalenceRun::*;

/// log width and log distance of every network with a positive distance.
struct LogPoints {
  std::vector<double> width, distance;

  LogPoints(const std::vector<EquivalenceRun>& runs, Distance which) {
    for (const EquivalenceRun& run : runs) {
      if (!run.trouble.empty() || !(run.*which > 0)) continue;
      width.push_back(std::log(static_cast<double>(run.width)));
      distance.push_back(std::log(run.*which));
    }
  }
};

std::optional<LineFit> slope_of(const std::vector<EquivalenceRun>& runs, Distance which) {
  const LogPoints points(runs, which);
  return fit_line(points.width, points.distance);
}

std::vector<double> means_of(const std::vector<EquivalenceRun>& runs, const std::vector<Index>& widths,
                             Distance which) {
  std::vector<double> means;
  for (const Index width : widths) {
    double sum = 0;
    Index count = 0;
    for (const EquivalenceRun& run : runs) {
      if (run.width != width || !run.trouble.empty()) continue;
      sum += run.*which;
      ++count;
    }
    means.push_back(count == 0 ? 0.0 : sum / static_cast<double>(count));
  }
  return means;
}

}  // namespace

void summarise_by_width(Equivalence& result, const std::vector<Index>& widths, bool parts) {
  result.difference = means_of(result.runs, widths, &EquivalenceRun::difference);
  result.slope = slope_of(result.runs, &EquivalenceRun::difference);
  result.final_slope = slope_of(result.runs, &EquivalenceRun::final_difference);
  const LogPoints points(result.runs, &EquivalenceRun::difference);
  result.straightness = lack_of_fit(points.width, points.distance);
  for (const LocalSlope& local : local_slopes(points.width, points.distance)) {
    result.local_slopes.push_back(
        {std::lround(std::exp(local.from)), std::lround(std::exp(local.to)), local.slope, local.error});
  }
  if (!parts) return;
  result.kernel_part = means_of(result.runs, widths, &EquivalenceRun::kernel_part);
  result.movement_part = means_of(result.runs, widths, &EquivalenceRun::movement_part);
  result.kernel_slope = slope_of(result.runs, &EquivalenceRun::kernel_part);
  result.movement_slope = slope_of(result.runs, &EquivalenceRun::movement_part);
}

}  // namespace widelimit
