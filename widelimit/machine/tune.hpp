#pragma once

#include "widelimit/data/labels/split.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/part_task.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Held-out error of a machine at one λ.
struct TunePoint {
  double lambda = 0;
  std::optional<double> misclassified;  ///< error rate; classification only
  std::optional<double> squared_error;  ///< mean of (y − g)²; regression and ridge classifiers
  Index unsolved = 0;                   ///< fits that did not converge
  std::string message = {};             ///< of the first of them
  /// Mean training error over the folds; empty for ridge with a weight of 0.
  std::optional<double> training_misclassified = {};
  std::optional<double> training_squared_error = {};
  /// The selection criterion; empty if no fit has a solution.
  [[nodiscard]] std::optional<double> error() const { return misclassified ? misclassified : squared_error; }
  [[nodiscard]] std::optional<double> training_error() const {
    return training_misclassified ? training_misclassified : training_squared_error;
  }
};

struct TuneOptions {
  MachineOptions machine;       ///< its λ is ignored
  std::vector<double> lambdas;  ///< in any order
  Index folds = 5;              ///< between 2 and the number of samples; ridge uses leave-one-out instead
  std::uint64_t seed = 0;       ///< of the random folds
  /// Given folds instead of random ones, for every machine, e.g. those of a published protocol; they may overlap. The
  /// error is the unweighted mean over folds. A fold fits the classes in its training rows.
  std::vector<SplitRows> given_folds = {};
  /// Label-aware kernel, rebuilt from the training samples of each fold, so that held-out labels do not leak. Ridge
  /// then uses folds too, since its leave-one-out formula would leak. `samples` are those of K.
  std::optional<LabelAwareOptions> label_aware = std::nullopt;
  std::optional<SampleView> samples = std::nullopt;
  const PairFunctions* pair_features = nullptr;  ///< additional pair features for it

  [[nodiscard]] Index fold_count() const { return given_folds.empty() ? folds : std::ssize(given_folds); }
};

/// Computes the error of a machine at every λ: ridge by exact leave-one-out from one factorisation, the others by
/// stratified cross-validation; all by the given folds, if any (check_folds). Folds use rows and columns of one shared
/// Gram matrix. Errors are weighted by sample: with balanced classes the error is averaged over classes. A fold
/// balances its own training samples; ridge balances all. Throws Error{input} for λ that are not positive, or a class
/// with fewer than two samples.
[[nodiscard]] std::vector<TunePoint> tune_classes(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                                  const TuneOptions& options);
[[nodiscard]] std::vector<TunePoint> tune_values(const GramMatrix& k, std::span<const double> targets,
                                                 const TuneOptions& options);

/// Returns the given folds, or random folds stratified by class.
[[nodiscard]] std::vector<SplitRows> tune_folds(const SampleTargets& truth, const TuneOptions& options);

/// Returns the index of the smallest error; ties by the smallest squared error, then by the largest λ. Empty if no
/// point has an error.
[[nodiscard]] std::optional<std::size_t> best_point(std::span<const TunePoint> points);

/// Returns `count` values from `first` to `last`, equally spaced on a logarithmic scale. Throws Error{input} unless
/// both are positive.
[[nodiscard]] std::vector<double> logarithmic_grid(double first, double last, Index count);

/// Returns the default λ grid: 13 values from 1e-4 to 100.
[[nodiscard]] std::vector<double> usual_lambdas();

}  // namespace widelimit
