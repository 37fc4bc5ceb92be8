#pragma once

#include "experiments/label_aware/la_images.hpp"
#include "experiments/tasks/task_kernel.hpp"
#include "experiments/tasks/told_images.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A kernel of LA's tables.
struct LaMethod {
  std::string name;                        ///< as the work names it, or ours
  std::optional<LabelAwareMethod> method;  ///< none: the tangent kernel itself
  bool published = false;                  ///< a line of the work
  bool bias = false;                       ///< regression with a bias, which is not regularised; the work has none
};
/// The tangent kernel, those of the work, exact regression in place of its sketches, and what a bias does to both:
/// most of what Z adds to a kernel is a constant. [docs/theory/label_aware.md]
[[nodiscard]] std::span<const LaMethod> la_methods();
using LaMethods = std::vector<const LaMethod*>;
/// Those that the option `methods` names, in the order of la_methods(): "all", "none", or some.
[[nodiscard]] LaMethods asked_methods(const Setting& setting);
[[nodiscard]] Option methods_option();

/// The tangent kernel of LA's tables 1 and 2, in a file of this name where there is a folder.
[[nodiscard]] TaskKernel la_kernel(const Setting& setting, const LaImages& images, const std::string& name,
                                   const std::optional<std::filesystem::path>& grams);

/// Ridgeless regression on one kernel.
struct LaRow {
  const LaMethod* method = nullptr;
  ToldImages told;
  double lambda = 0;    ///< of Z
  double estimate = 0;  ///< seconds that Z took
};

/// A row for each method, of the tangent kernel of the training images and of test with training images. Targets ±1 for
/// two classes, else 1 for the class and 0 for others, as published.
[[nodiscard]] std::vector<LaRow> la_rows(const Setting& setting, const LaImages& images, const LaMethods& methods,
                                         const AnyView& k, const AnyView& k_test, double ratio);

/// "85.15", or what went wrong.
[[nodiscard]] std::string percent_text(const ToldImages& told);
[[nodiscard]] nlohmann::ordered_json row_json(const LaRow& row);
/// The first row without a solution; empty where there is none.
[[nodiscard]] std::string trouble_of(const std::vector<LaRow>& rows, const std::string& task);

}  // namespace widelimit::experiment
