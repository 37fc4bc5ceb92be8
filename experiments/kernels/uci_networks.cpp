#include "experiments/kernels/uci_networks.hpp"

#include "experiments/kernels/svm_folds.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/part_task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>

namespace widelimit::experiment::uci {

namespace {

constexpr Loss cross_entropy{.kind = LossKind::softmax};
constexpr Index parts_of_steps[]{8, 4, 2, 1};

/// One point of the grid.
struct Trial {
  Index hidden;
  Index width;
  double rate;  ///< multiple of the stable rate
};

std::vector<Trial> trials_of(const NetworkGrid& grid) {
  std::vector<Trial> trials;
  for (const Index hidden : grid.hidden) {
    for (const Index width : grid.widths) {
      for (const double rate : grid.rates) trials.push_back({hidden, width, rate});
    }
  }
  return trials;
}

/// Training and test part of a fold.
class FoldData {
 public:
  FoldData(const Dataset& data, const SplitRows& fold)
      : all_labels_(data.labels),
        fold_(fold),
        shape_(data.shape),
        train_(gather(data.view(), fold.train)),
        test_(gather(data.view(), fold.test)),
        present_(present_classes(chosen<Index>(data.labels, fold.train))),
        targets_(class_targets(present_.labels, present_.count(), cross_entropy)) {}

  [[nodiscard]] TrainData data() const {
    return {.x = {train_, shape_}, .y = targets_.view(), .test = SampleView(test_, shape_)};
  }
  [[nodiscard]] double samples() const { return static_cast<double>(fold_.train.size()); }

  /// Returns the test accuracy at each record; the largest output gives the class.
  [[nodiscard]] std::vector<double> accuracies(const TrainingRecord& record) const {
    const Index classes = present_.count();
    std::vector<double> result;
    const double* outputs = record.test_outputs.data();
    for (Index at = 0; at < record.count(); ++at) {
      std::vector<Index> predicted;
      for (std::size_t i = 0; i < fold_.test.size(); ++i, outputs += classes) {
        predicted.push_back(present_.classes[usize(std::max_element(outputs, outputs + classes) - outputs)]);
      }
      result.push_back(accuracy(predicted, fold_.test, all_labels_));
    }
    return result;
  }

 private:
  std::span<const Index> all_labels_;
  const SplitRows& fold_;
  Shape shape_;
  AnySamples train_;
  AnySamples test_;
  PresentClasses present_;
  Matrix<double> targets_;
};

Network network_of(const Trial& trial) {
  return Network::parse(fmt::format("fc:{}(w_std={}, b_std=0)", trial.hidden, std::numbers::sqrt2));
}

/// Settings common to all trainings of a kind and a grid.
struct Training {
  const Setting& setting;
  const NetworkKind& kind;
  const NetworkGrid& grid;
  Progress* progress;

  [[nodiscard]] TrainOptions options(const Trial& trial) const {
    TrainOptions options{.width = trial.width, .parameterisation = kind.parameterisation, .loss = cross_entropy};
    options.regulariser = Regulariser::none;
    options.optimiser = {.kind = OptimiserKind::nesterov, .momentum = 0.9};
    options.seed = setting.seed;
    options.precision = Precision::f32;
    options.progress = progress;
    return options;
  }
  /// Returns the learning rate on the mean loss.
  [[nodiscard]] double rate(const Trial& trial, const FoldData& fold_data) const {
    return trial.rate * fold_data.samples() *
           default_rate(network_of(trial), fold_data.data(), options(trial), setting.engine);
  }
  /// Returns the accuracies after each of the increasing steps; 0 if the training diverged.
  [[nodiscard]] std::vector<double> accuracies(const Trial& trial, double mean_rate, const std::vector<Index>& steps,
                                               const FoldData& fold_data) const {
    TrainOptions training_options = options(trial);
    training_options.rate = mean_rate / fold_data.samples();
    training_options.steps = steps.back();
    training_options.record_at = steps;
    const TrainedNetwork trained = train(network_of(trial), fold_data.data(), training_options, setting.engine);
    const std::vector<double> found = fold_data.accuracies(trained.record);
    std::vector<double> result(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& recorded = trained.record.steps;
      const auto at = std::find(recorded.begin(), recorded.end(), steps[i]);
      if (trained.summary.finished() && at != recorded.end()) result[i] = found[usize(at - recorded.begin())];
    }
    return result;
  }
};

std::vector<Index> recorded_steps(Index steps) {
  std::vector<Index> all;
  for (const Index part : parts_of_steps) {
    const Index at = std::max<Index>(1, steps / part);
    if (all.empty() || at > all.back()) all.push_back(at);
  }
  return all;
}

NetworkResult chosen_network(const Training& training, const UciSet& set) {
  const std::vector<Trial> trials = trials_of(training.grid);
  const std::vector<Index> steps = recorded_steps(training.grid.steps);
  std::vector<double> rates(trials.size());
  std::vector<std::vector<double>> validation(trials.size());
  const FoldData selection(set.data, set.selection);
  const auto on_progress = [&](Index) { stop_if_requested(training.progress); };
  const auto validate = [&](Index i) {
    const Trial& trial = trials[usize(i)];
    rates[usize(i)] = training.rate(trial, selection);
    validation[usize(i)] = training.accuracies(trial, rates[usize(i)], steps, selection);
  };
  training.setting.engine.for_each(std::ssize(trials), validate, on_progress);
  std::size_t best = 0;
  std::size_t length = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (validation[i][s] > validation[best][length]) {
        best = i;
        length = s;
      }
    }
  }
  const Trial& trial = trials[best];
  std::vector<double> tests(set.tests.size());
  const auto test = [&](Index fold) {
    const FoldData fold_data(set.data, set.tests[usize(fold)]);
    tests[usize(fold)] = training.accuracies(trial, rates[best], {steps[length]}, fold_data).front();
  };
  training.setting.engine.for_each(std::ssize(tests), test, on_progress);
  NetworkResult result{.network = fmt::format("{} hidden of {}, rate {:g}, {} steps", trial.hidden, trial.width,
                                              trial.rate, steps[length])};
  for (const double one : tests) result.accuracy += one / static_cast<double>(tests.size());
  return result;
}

}  // namespace

const std::vector<NetworkKind>& network_kinds() {
  static const std::vector<NetworkKind> kinds{{"NN (He init)", Parameterisation::standard},
                                              {"NN (NTK init)", Parameterisation::ntk}};
  return kinds;
}

std::string NetworkGrid::text(std::uint64_t seed) const {
  return fmt::format("hidden {}; width {}; rate {}; {} steps; seed {}", fmt::join(hidden, " "), fmt::join(widths, " "),
                     fmt::join(rates, " "), steps, seed);
}

std::vector<NetworkResult> train_networks(const Setting& setting, const UciSet& set, const NetworkGrid& grid,
                                          Progress* progress) {
  std::vector<NetworkResult> results;
  for (const NetworkKind& kind : network_kinds()) {
    results.push_back(chosen_network({setting, kind, grid, progress}, set));
  }
  return results;
}

}  // namespace widelimit::experiment::uci
