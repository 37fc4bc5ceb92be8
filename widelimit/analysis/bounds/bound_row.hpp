#pragma once

#include "widelimit/analysis/bounds/label_bound.hpp"
#include "widelimit/analysis/bounds/noisy_label_bound.hpp"
#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/engine/select.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// The kernel of a sample, and of test samples with it, each with what is known of them: classes or numbers.
struct BoundTask {
  AnyView k;
  std::optional<AnyView> k_test;
  const Engine* engine = &all_processors();  ///< that fits and bounds
  std::vector<Index> labels;
  std::vector<Index> test_labels;
  Index classes = 0;  ///< 0: numbers
  std::vector<double> targets;
  std::vector<double> test_targets;
  bool semidefinite = false;  ///< k is so by construction

  [[nodiscard]] Index samples() const;
  [[nodiscard]] GramMatrix gram() const { return {k, *engine}; }
  /// The first `count` samples, with all test samples.
  [[nodiscard]] BoundTask first(Index count) const;
  /// Each label any class, all equally likely, of the sample and of the test samples, whose noise is another.
  [[nodiscard]] BoundTask with_random_labels(std::uint64_t seed) const;
  /// ±1 of two classes, or the numbers; nothing of several classes.
  [[nodiscard]] std::optional<std::vector<double>> values() const;
};

/// Bounds of one machine beside what was measured.
struct BoundRow {
  std::string labels;  ///< "true", "random" or "flipped"
  std::string name;    ///< of the machine
  Index samples = 0;
  std::optional<RademacherBound> machine;  ///< nothing where the fit ended without an answer
  std::optional<LabelBound> label;         ///< two classes, or numbers
  double train = 0;                        ///< error rate on the sample, or mean clipped loss
  std::optional<double> test;              ///< the same on test samples
  std::optional<double> clean;             ///< guarantee for the labels before they were flipped
  std::optional<double> noisy_shape;       ///< NT-L Theorem 6 with its constant 1
  Summary summary;
};

/// Fits the machine and bounds it, and the labels by themselves where `by_labels`. Numerical endings are in the row.
[[nodiscard]] BoundRow bound_row(const BoundTask& task, const MachineOptions& machine, const RademacherOptions& options,
                                 bool by_labels);
/// The same of a machine that was fitted before.
[[nodiscard]] BoundRow bound_row(const BoundTask& task, const FittedMachine& trained, const RademacherOptions& options,
                                 Progress* progress, bool by_labels);

/// Of labels flipped with probability `flip`, whose clean ones have the squared norm `clean_norm`: both noisy bounds,
/// the shape at the ridge λ/2 of `lambda`.
void add_noisy_bounds(BoundRow& row, double flip, std::optional<double> clean_norm, double lambda);

}  // namespace widelimit
