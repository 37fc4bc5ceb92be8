#pragma once

#include "experiments/label_aware/la_cnn.hpp"
#include "experiments/label_aware/la_rows.hpp"
#include "experiments/label_aware/published_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A column of LA's tables 1 and 2: a pair of classes, or a number of training images.
struct LaTask {
  std::string name;
  std::vector<LaRow> rows;
  std::optional<TrainedCnn> cnn;
  double seconds = 0;  ///< of the kernel
};
/// What is asked for of every task.
struct LaOptions {
  LaMethods methods;
  double ratio = 0;
  CnnOptions cnn;
};
/// Error{usage} where neither kernels nor a network are asked for.
[[nodiscard]] LaOptions asked_la(const Setting& setting, LossKind loss);
/// Regressions on a corner of the kernel, which may be that of more images, and the network of a task; no network where
/// it has no epochs. Without methods the kernel is not read.
[[nodiscard]] LaTask la_task(const Setting& setting, const std::string& name, const LaImages& images,
                             const TaskKernel& kernel, const LaOptions& options);

/// Lines as published ("CNTK", "KR-V1", …, "CNN"), accuracies in percent, ours above theirs, with the mean over tasks
/// and what it gains on CNTK; a task each column.
[[nodiscard]] Table la_table(const std::vector<LaTask>& tasks, const PublishedTable& published);
/// The same as bars of means, ours beside theirs.
[[nodiscard]] Illustration la_bars(const std::vector<LaTask>& tasks, const PublishedTable& published);
[[nodiscard]] nlohmann::ordered_json la_json(const std::vector<LaTask>& tasks, const PublishedTable& published);

/// Means of CNTK, of the best of the published kernels on each task, and of the network.
[[nodiscard]] std::string la_sentence(const std::vector<LaTask>& tasks);
/// Tables, records, timings and failures of all tasks into an outcome.
[[nodiscard]] Outcome la_outcome(const Setting& setting, const std::vector<LaTask>& tasks,
                                 const PublishedTable& published, const std::string& heading, const std::string& words);

}  // namespace widelimit::experiment
