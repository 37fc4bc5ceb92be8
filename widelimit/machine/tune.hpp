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
  std::string message = {};             ///< of the first of those
  /// Training error, the mean over the folds; empty for ridge with a weight of 0.
  std::optional<double> training_misclassified = {};
  std::optional<double> training_squared_error = {};
  /// The criterion of the selection; empty where a fit has no solution.
  [[nodiscard]] std::optional<double> error() const { return misclassified ? misclassified : squared_error; }
  [[nodiscard]] std::optional<double> training_error() const {
    return training_misclassified ? training_misclassified : training_squared_error;
  }
};

struct TuneOptions {
  MachineOptions machine;       ///< its λ is not used
  std::vector<double> lambdas;  ///< in any order
  Index folds = 5;              ///< between 2 and the number of samples; ridge uses leave-one-out instead
  std::uint64_t seed = 0;       ///< of the folds
  /// Instead of drawn folds, for every machine: those of a published protocol, which may overlap. The error is then the
  /// mean of their errors, whatever their sizes; a fold fits the classes that it trains on.
  std::vector<SplitRows> given_folds = {};
  /// A label-aware kernel, made anew from the training samples of each fold, so that it never sees the labels of those
  /// that are left out; ridge then takes folds, too: its leave-one-out formula would leak. `samples` are those of K.
  std::optional<LabelAwareOptions> label_aware = std::nullopt;
  std::optional<SampleView> samples = std::nullopt;
  const PairFunctions* pair_features = nullptr;  ///< more features of pairs for it

  [[nodiscard]] Index fold_count() const { return given_folds.empty() ? folds : std::ssize(given_folds); }
};

/// Error of a machine at every λ: ridge by exact leave-one-out from one factorisation, the others by stratified
/// cross-validation, all by given folds where there are any (check_folds). All folds share one Gram matrix, of which
/// they use rows and columns. Samples count in errors by their weights: with balanced classes the error is that of a
/// class, averaged over classes. A fold balances its own training samples; ridge balances all. Error{input} for λ that
/// are not positive, or a class with fewer samples than two.
[[nodiscard]] std::vector<TunePoint> tune_classes(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                                  const TuneOptions& options);
[[nodiscard]] std::vector<TunePoint> tune_values(const GramMatrix& k, std::span<const double> targets,
                                                 const TuneOptions& options);

/// The folds that options stand for: those given, or drawn by the seed, stratified by class.
[[nodiscard]] std::vector<SplitRows> tune_folds(const Truth& truth, const TuneOptions& options);

/// Index of the smallest error; ties by the smallest squared error, then by the largest λ. Empty where no point has an
/// error.
[[nodiscard]] std::optional<std::size_t> best_point(std::span<const TunePoint> points);

/// `count` values from `first` to `last`, equally spaced on a logarithmic scale. Error{input} unless both are
/// positive.
[[nodiscard]] std::vector<double> logarithmic_grid(double first, double last, Index count);

/// λ to try where none are asked for: 13 from 1e-4 to 100.
[[nodiscard]] std::vector<double> usual_lambdas();

}  // namespace widelimit
