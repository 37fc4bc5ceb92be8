#pragma once

#include "experiments/label_aware/la_cnn.hpp"
#include "experiments/label_aware/la_rows.hpp"
#include "experiments/label_aware/published_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A column of LA Tables 1 and 2: a pair of classes, or a number of training images.
struct LaTask {
  std::string name;
  std::vector<LaRow> rows;
  std::optional<TrainedCnn> cnn;
  double seconds = 0;  ///< time of the kernel
};
/// Options common to all tasks.
struct LaOptions {
  LaMethods methods;
  double ratio = 0;
  CnnOptions cnn;
};
/// The published CNN of a table: values of the options "channels" and "epochs", and its loss in words.
struct PublishedCnn {
  const char* channels;
  const char* epochs;
  const char* loss;
};
/// Returns the options of a table: `own`, then those common to both tables.
[[nodiscard]] std::vector<Option> la_options(std::vector<Option> own, const PublishedCnn& published);
/// Parses the options. Throws Error{usage} if neither kernels nor a network are requested.
[[nodiscard]] LaOptions requested_la_options(const Setting& setting, LossKind loss);
/// Computes the regressions on the leading block of the kernel, which may be larger, and trains the network of a task
/// if it has epochs. Without methods the kernel is not read.
[[nodiscard]] LaTask la_task(const Setting& setting, const std::string& name, const LaImages& images,
                             const TaskKernel& kernel, const LaOptions& options);

/// Returns rows as published ("CNTK", "KR-V1", …, "CNN") with one column per task, accuracies in percent, ours above
/// the published ones, the mean over tasks and the gain over CNTK.
[[nodiscard]] Table la_table(const std::vector<LaTask>& tasks, const PublishedTable& published);
/// Plots the means as bars, ours and published.
[[nodiscard]] Illustration la_bars(const std::vector<LaTask>& tasks, const PublishedTable& published);
[[nodiscard]] nlohmann::ordered_json la_json(const std::vector<LaTask>& tasks, const PublishedTable& published);

/// Returns the remarks common to both tables: exact regressions, biases and, if it has epochs, the CNN.
[[nodiscard]] std::string la_remarks(const CnnOptions& cnn, const PublishedCnn& published);
/// Returns the means of CNTK, of the best published kernel of each task, and of the network as a sentence.
[[nodiscard]] std::string la_sentence(const std::vector<LaTask>& tasks);
/// Collects tables, records, timings and failures of all tasks.
[[nodiscard]] Outcome la_outcome(const Setting& setting, const std::vector<LaTask>& tasks,
                                 const PublishedTable& published, const std::string& heading, const std::string& words);

}  // namespace widelimit::experiment
