#include "widelimit/analysis/bounds/bound_row.hpp"

#include "widelimit/data/labels/label_noise.hpp"

namespace widelimit {

namespace {

double error_rate(const FittedMachine& trained, const Matrix<double>& g, const std::vector<Index>& labels) {
  const std::vector<Index> predicted = classes_of(trained.scheme, trained.classes, g.view());
  Index wrong = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) wrong += predicted[i] != labels[i] ? 1 : 0;
  return static_cast<double>(wrong) / static_cast<double>(predicted.size());
}

double mean_clipped(const ClippedLoss& loss, const Matrix<double>& g, const std::vector<double>& targets) {
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) sum += loss.value(g(static_cast<Index>(i), 0), targets[i]);
  return sum / static_cast<double>(targets.size());
}

/// Uses the training loss of a support vector regression unless a loss is given.
RademacherOptions value_options(RademacherOptions options, const MachineOptions& machine) {
  if (!options.loss && machine.machine == Machine::svr) {
    options.loss = Loss{.kind = LossKind::insensitive, .epsilon = machine.epsilon};
  }
  return options;
}

void measure(BoundRow& row, const BoundTask& task, const FittedMachine& trained) {
  const auto on = [&](const AnyView& k, const std::vector<Index>& labels, const std::vector<double>& targets) {
    const Matrix<double> g = decision(trained.fit, k, *task.engine);
    return task.classes > 0 ? error_rate(trained, g, labels) : mean_clipped(row.machine->loss, g, targets);
  };
  row.train = on(task.k, task.labels, task.targets);
  if (!task.test_labels.empty() || !task.test_targets.empty()) {
    row.test = on(*task.k_test, task.test_labels, task.test_targets);
  }
}

}  // namespace

Index BoundTask::samples() const {
  return std::visit([](const auto& m) { return m.rows; }, k);
}

BoundTask BoundTask::first(Index count) const {
  BoundTask part = *this;
  part.k = std::visit([&](const auto& m) { return AnyView(m.block(0, 0, count, count)); }, k);
  if (k_test) part.k_test = std::visit([&](const auto& m) { return AnyView(m.block(0, 0, m.rows, count)); }, *k_test);
  if (!labels.empty()) part.labels.resize(static_cast<std::size_t>(count));
  if (!targets.empty()) part.targets.resize(static_cast<std::size_t>(count));
  return part;
}

BoundTask BoundTask::with_random_labels(std::uint64_t seed) const {
  const double away = 1 - 1 / static_cast<double>(classes);
  BoundTask task = *this;
  task.labels = flip_labels(labels, classes, away, seed);
  task.test_labels = flip_labels(test_labels, classes, away, ~seed);
  return task;
}

std::optional<std::vector<double>> BoundTask::values() const {
  if (classes == 0) return targets;
  if (classes != 2) return std::nullopt;
  std::vector<double> signs;
  for (const Index label : labels) signs.push_back(label == 1 ? 1.0 : -1.0);
  return signs;
}

BoundRow bound_row(const BoundTask& task, const MachineOptions& requested, const RademacherOptions& options,
                   bool by_labels) {
  stop_if_requested(requested.progress);
  const bool numbers = task.classes == 0;
  MachineOptions machine = requested;
  machine.check_definite = !task.semidefinite;
  const FittedMachine trained = numbers
                                    ? train_values(task.gram(), {task.targets.data(), task.samples(), 1, 1}, machine)
                                    : train_classes(task.gram(), task.labels, task.classes, machine);
  const RademacherOptions how = numbers ? value_options(options, machine) : options;
  return bound_row(task, trained, how, machine.progress, by_labels);
}

BoundRow bound_row(const BoundTask& task, const FittedMachine& trained, const RademacherOptions& requested,
                   Progress* progress, bool by_labels) {
  RademacherOptions options = requested;
  options.check_definite = !task.semidefinite;
  options.progress = progress;
  BoundRow row{.labels = "true",
               .name = std::string(to_string(trained.machine)),
               .samples = task.samples(),
               .machine = {},
               .label = {},
               .train = 0,
               .test = {},
               .clean = {},
               .noisy_shape = {},
               .summary = trained.fit.summary};
  const Ending ending = row.summary.ending;
  if (ending == Ending::converged || ending == Ending::iteration_limit) {
    row.machine = task.classes > 0 ? rademacher_bound(task.gram(), trained, task.labels, options)
                                   : rademacher_bound(task.gram(), trained.fit, task.targets, options);
    measure(row, task, trained);
  }
  stop_if_requested(progress);
  const auto values = task.values();
  if (by_labels && values) {
    row.label = label_bound(task.gram(), *values, {.delta = options.delta, .progress = progress});
  }
  return row;
}

void add_noisy_bounds(BoundRow& row, double flip, std::optional<double> clean_norm, double lambda) {
  const NoisyLabels noise{flip};
  if (row.machine) row.clean = clean_error_bound(noise, row.machine->uniform->terms.value());
  if (clean_norm && lambda > 0) row.noisy_shape = noisy_label_shape(noise, *clean_norm, row.samples, lambda / 2);
}

}  // namespace widelimit
