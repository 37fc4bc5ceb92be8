#pragma once

#include "widelimit/machine/machine.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// How a machine does at one λ on samples it was not fitted to.
struct TunePoint {
  double lambda = 0;
  std::optional<double> misclassified;  ///< share of samples; of classes
  std::optional<double> squared_error;  ///< mean of (y − g)²; of numbers, and of the targets of a ridge classifier
  Index unsolved = 0;                   ///< fits that did not converge
  std::string message = {};             ///< of the first of those
  /// The same on the samples fitted to, the mean over the folds; nothing for a ridge with weights.
  std::optional<double> training_misclassified = {};
  std::optional<double> training_squared_error = {};
  /// What the choice goes by; nothing where a fit has no answer.
  [[nodiscard]] std::optional<double> error() const { return misclassified ? misclassified : squared_error; }
  [[nodiscard]] std::optional<double> training_error() const {
    return training_misclassified ? training_misclassified : training_squared_error;
  }
};

struct TuneOptions {
  MachineOptions machine;       ///< its λ is not used
  std::vector<double> lambdas;  ///< in any order
  Index folds = 5;              ///< between 2 and the number of samples; ridge leaves each sample out instead
  std::uint64_t seed = 0;       ///< of the folds
};

/// Error of a machine at every λ: ridge by exact leave-one-out from one factorisation, the others by folds, of which
/// each has its share of every class. One Gram matrix serves all: a fold is some of its rows and columns.
/// Error{input} for λ that are not positive, or a class with fewer samples than two.
[[nodiscard]] std::vector<TunePoint> tune_classes(const AnyView& k, std::span<const Index> labels, Index classes,
                                                  const TuneOptions& options);
[[nodiscard]] std::vector<TunePoint> tune_values(const AnyView& k, std::span<const double> targets,
                                                 const TuneOptions& options);

/// Position of the least error, of equals the one with the least squared error, then the largest λ; nothing where no
/// point has one.
[[nodiscard]] std::optional<std::size_t> best_point(std::span<const TunePoint> points);

/// `count` values from `first` to `last`, each the same multiple of the one before. Error{input} unless both are
/// positive.
[[nodiscard]] std::vector<double> logarithmic_grid(double first, double last, Index count);

}  // namespace widelimit
