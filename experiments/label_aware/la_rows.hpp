#pragma once

#include "experiments/label_aware/la_images.hpp"
#include "experiments/tasks/image_predictions.hpp"
#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A kernel of the tables of LA.
struct LaMethod {
  std::string name;                        ///< name in the work, or ours
  std::optional<LabelAwareMethod> method;  ///< std::nullopt: the NTK
  bool published = false;                  ///< whether the work has this row
  bool bias = false;                       ///< regression with an unregularised bias; the work has none
};
/// Returns the NTK, the kernels of the work, exact regressions instead of its sketches, and both with a bias, since Z
/// is mostly a constant. [docs/theory/label_aware.md]
[[nodiscard]] std::span<const LaMethod> la_methods();
using LaMethods = std::vector<const LaMethod*>;
/// Parses the option `methods` ("all", "none", or names); returns them in the order of la_methods().
[[nodiscard]] LaMethods requested_methods(const Setting& setting);
[[nodiscard]] Option methods_option();

/// Computes the NTK of LA Tables 1 and 2, in a file of this name if a folder is given.
[[nodiscard]] TaskKernel la_kernel(const Setting& setting, const LaImages& images, const std::string& name,
                                   const std::optional<std::filesystem::path>& grams);

/// Results of ridgeless regression on one kernel.
struct LaRow {
  const LaMethod* method = nullptr;
  ImagePredictions predictions;
  double lambda = 0;    ///< of Z
  double estimate = 0;  ///< seconds for Z
};

/// Returns one row per method, from the NTK K(train, train) and K(test, train). Targets are ±1 for two classes, else
/// one-hot, as published.
[[nodiscard]] std::vector<LaRow> la_rows(const Setting& setting, const LaImages& images, const LaMethods& methods,
                                         const AnyView& k, const AnyView& k_test, double ratio);

/// Returns the accuracy in percent, e.g. "85.15", or the reason of a failure.
[[nodiscard]] std::string percent_text(const ImagePredictions& predictions);
[[nodiscard]] nlohmann::ordered_json row_json(const LaRow& row);
/// Describes the first row without a solution; empty if there is none.
[[nodiscard]] std::string trouble_of(const std::vector<LaRow>& rows, const std::string& task);

}  // namespace widelimit::experiment
