#pragma once

#include "widelimit/analysis/bounds/label_bound.hpp"
#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/engine/select.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Kernel matrices of training and test samples with their labels or regression targets.
struct BoundTask {
  AnyView k;
  std::optional<AnyView> k_test;
  const Engine* engine = &all_processors();  ///< used for fits and bounds
  std::vector<Index> labels;
  std::vector<Index> test_labels;
  Index classes = 0;  ///< 0: regression
  std::vector<double> targets;
  std::vector<double> test_targets;
  bool semidefinite = false;  ///< k is positive semi-definite by construction

  [[nodiscard]] Index samples() const;
  [[nodiscard]] GramMatrix gram() const { return {k, *engine}; }
  /// Returns the task of the first `count` samples, with all test samples.
  [[nodiscard]] BoundTask first(Index count) const;
  /// Returns the task with all labels replaced by uniformly random classes, independently for training and test
  /// samples.
  [[nodiscard]] BoundTask with_random_labels(std::uint64_t seed) const;
  /// Returns ±1 for two classes or the regression targets; std::nullopt for more than two classes.
  [[nodiscard]] std::optional<std::vector<double>> values() const;
};

/// Bounds of one machine and the measured errors.
struct BoundRow {
  std::string labels;  ///< "true", "random" or "flipped"
  std::string name;    ///< name of the machine
  Index samples = 0;
  std::optional<RademacherBound> machine;  ///< empty if the fit failed
  std::optional<LabelBound> label;         ///< two classes, or regression
  double train = 0;                        ///< training error rate, or mean clipped loss
  std::optional<double> test;              ///< same on test samples
  std::optional<double> clean;             ///< bound on the error with respect to the clean labels
  std::optional<double> noisy_shape;       ///< NT-L Theorem 6 with constant 1
  Summary summary;
};

/// Fits the machine and bounds its error; also computes the label bound if `by_labels`. Numerical failures are recorded
/// in the row.
[[nodiscard]] BoundRow bound_row(const BoundTask& task, const MachineOptions& machine, const RademacherOptions& options,
                                 bool by_labels);
/// Same for a fitted machine.
[[nodiscard]] BoundRow bound_row(const BoundTask& task, const FittedMachine& trained, const RademacherOptions& options,
                                 Progress* progress, bool by_labels);

/// Adds both noisy-label bounds for labels flipped with probability `flip`, whose clean labels have the squared norm
/// `clean_norm`; the shape uses the ridge λ/2 with λ = `lambda`.
void add_noisy_bounds(BoundRow& row, double flip, std::optional<double> clean_norm, double lambda);

}  // namespace widelimit
