#pragma once

#include "widelimit/analysis/roc.hpp"
#include "widelimit/analysis/scores.hpp"
#include "widelimit/machine/tune.hpp"
#include "widelimit/report/html.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Draws a confusion matrix: counts [true class][predicted class], as fractions of the true class. Throws Error{usage}
/// unless there is one row and one column per class name.
[[nodiscard]] Illustration confusion_map(const std::vector<std::vector<Index>>& counts,
                                         const std::vector<std::string>& classes, const std::string& title);

/// Plots ROC curves, one line per part of the data; the caption lists the areas. `positive` is the class with high
/// scores.
[[nodiscard]] Illustration roc_curves(const std::vector<std::pair<std::string, Roc>>& parts,
                                      const std::string& positive);

/// Plots reliability curves, one line per part of the data: the accuracy of the most probable class in each bin, by its
/// mean probability; the caption lists the expected calibration errors.
[[nodiscard]] Illustration reliability_curves(const std::vector<std::pair<std::string, ProbabilityScores>>& parts);

/// Plots the fraction of samples by margin, one line per part of the data; the caption counts margins of 0 or below.
[[nodiscard]] Illustration margin_histogram(const std::vector<std::pair<std::string, std::vector<double>>>& parts);

/// A kernel and the errors of its machines by λ.
struct LambdaPath {
  std::string name;
  std::vector<TunePoint> points;  ///< in any order
};

/// Plots error by λ, one line per kernel, over a logarithmic axis. `chosen` (kernel, point) is marked with a ring. For
/// a single kernel, the training error is shown too, next to that of `method` ("leave-one-out").
[[nodiscard]] Illustration error_by_lambda(const std::vector<LambdaPath>& paths, const std::string& method,
                                           std::optional<std::pair<std::size_t, std::size_t>> chosen);

}  // namespace widelimit
