#include "widelimit/machine/part_task.hpp"

#include "widelimit/machine/gram/chosen.hpp"

#include <algorithm>

namespace widelimit {

std::vector<double> losses_of(const SampleTargets& truth, const MachinePredictions& predictions,
                              std::span<const Index> rows) {
  std::vector<double> losses;
  losses.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t sample = usize(rows[i]);
    const double error = truth.classes() ? 0 : truth.targets[sample] - predictions.values[i];
    losses.push_back(truth.classes() ? (predictions.classes[i] == truth.labels[sample] ? 0.0 : 1.0) : error * error);
  }
  return losses;
}

double sum_of_errors(const SampleTargets& truth, const MachinePredictions& predictions, std::span<const Index> rows,
                     std::span<const double> weights) {
  const std::vector<double> losses = losses_of(truth, predictions, rows);
  double sum = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) sum += factor_at(weights, rows[i]) * losses[i];
  return sum;
}

PresentClasses present_classes(std::vector<Index> labels) {
  PresentClasses present{labels, {}};
  present.labels = std::move(labels);
  std::sort(present.classes.begin(), present.classes.end());
  present.classes.erase(std::unique(present.classes.begin(), present.classes.end()), present.classes.end());
  for (Index& label : present.labels) {
    label = std::lower_bound(present.classes.begin(), present.classes.end(), label) - present.classes.begin();
  }
  return present;
}

PartTask::PartTask(const SampleTargets& truth, std::span<const Index> rows, const MachineOptions& machine)
    : machine_(machine) {
  if (!machine.weights.empty()) weights_ = chosen(machine.weights, rows);
  machine_.weights = {};
  if (!truth.classes()) {
    targets_ = chosen(truth.targets, rows);
    return;
  }
  present_ = present_classes(chosen(truth.labels, rows));
  if (std::vector<double>& each = machine_.class_weights.each; !each.empty()) {
    each = chosen(std::span<const double>(each), present_.classes);
  }
}

MachineOptions PartTask::machine(double lambda) const {
  MachineOptions options = machine_;
  options.lambda = lambda;
  options.weights = weights_;
  return options;
}

FittedMachine PartTask::fit(const GramMatrix& k, double lambda) const {
  if (present_.count() > 0) return train_classes(k, present_.labels, present_.count(), machine(lambda));
  return train_values(k, {targets_.data(), std::ssize(targets_), 1, 1}, machine(lambda));
}

MachinePredictions PartTask::predict(const FittedMachine& fitted, const Matrix<double>& decisions) const {
  if (present_.count() == 0) return {.classes = {}, .values = {decisions.data(), decisions.data() + decisions.rows()}};
  MachinePredictions predictions{.classes = classes_of(fitted.scheme, present_.count(), decisions.view()),
                                 .values = {}};
  for (Index& label : predictions.classes) label = present_.classes[usize(label)];
  return predictions;
}

}  // namespace widelimit
