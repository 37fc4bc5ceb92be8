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

/// Confusion matrix: counts [true class][predicted class], each drawn as a fraction of its class. Error{usage} unless
/// there is a row and a column for each name.
[[nodiscard]] Illustration confusion_map(const std::vector<std::vector<Index>>& counts,
                                         const std::vector<std::string>& classes, const std::string& title);

/// True against false positives, a line for each part of the data by its name; the caption has the areas. `positive`
/// is the class whose scores are high.
[[nodiscard]] Illustration roc_curves(const std::vector<std::pair<std::string, Roc>>& parts,
                                      const std::string& positive);

/// Reliability curve: the fraction of samples that are of their most probable class, by the mean of its probability in
/// each bin, a line for each part of the data; the caption has the expected calibration errors.
[[nodiscard]] Illustration reliability_curves(const std::vector<std::pair<std::string, ProbabilityScores>>& parts);

/// Fraction of samples by margin, a line for each part of the data; the caption counts those on the wrong side.
[[nodiscard]] Illustration margin_histogram(const std::vector<std::pair<std::string, std::vector<double>>>& parts);

/// One kernel, and the errors of a machine on it by λ.
struct LambdaPath {
  std::string name;
  std::vector<TunePoint> points;  ///< in any order
};

/// Error by λ, a line for each kernel, over a logarithmic axis. `chosen` (kernel, point) has a ring. A single kernel
/// shows its training error beside the other, which `method` names ("leave-one-out").
[[nodiscard]] Illustration error_by_lambda(const std::vector<LambdaPath>& paths, const std::string& method,
                                           std::optional<std::pair<std::size_t, std::size_t>> chosen);

}  // namespace widelimit
