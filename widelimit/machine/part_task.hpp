#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// The classes that occur in some labels, and the labels as indices into them: a subset of the data may lack some
/// classes.
struct PresentClasses {
  std::vector<Index> classes;  ///< ascending
  std::vector<Index> labels;

  [[nodiscard]] Index count() const { return std::ssize(classes); }
};
[[nodiscard]] PresentClasses present_classes(std::vector<Index> labels);

/// Targets of all samples: classes 0 … classes − 1, or numbers.
struct SampleTargets {
  std::span<const Index> labels;  ///< empty for numeric targets
  std::span<const double> targets;

  [[nodiscard]] bool classes() const { return !labels.empty(); }
  [[nodiscard]] Index samples() const { return classes() ? std::ssize(labels) : std::ssize(targets); }
};

/// Predictions of a machine for some samples.
struct MachinePredictions {
  std::vector<Index> classes;
  std::vector<double> values;  ///< instead, for numeric targets
};

/// Returns the loss of each of `rows`: the 0-1 loss of the class, or (y − g)².
[[nodiscard]] std::vector<double> losses_of(const SampleTargets& truth, const MachinePredictions& predictions,
                                            std::span<const Index> rows);
/// Returns the weighted sum of these losses. `weights` are those of all samples; empty means 1.
[[nodiscard]] double sum_of_errors(const SampleTargets& truth, const MachinePredictions& predictions,
                                   std::span<const Index> rows, std::span<const double> weights);

/// A learning task on a subset of the samples, such as the training rows of a fold. A subset may lack some classes: its
/// machines are fitted to those present, and predictions are mapped back to the class numbers of all samples.
class PartTask {
 public:
  /// `machine` has the weights of all samples and all classes.
  PartTask(const SampleTargets& truth, std::span<const Index> rows, const MachineOptions& machine);

  /// Returns the options for this subset. They refer to the weights of this object.
  [[nodiscard]] MachineOptions machine(double lambda) const;
  /// Fits the machine to the Gram matrix of the subset.
  [[nodiscard]] FittedMachine fit(const GramMatrix& k, double lambda) const;
  /// Converts decisions of the fitted machine on any samples to predictions.
  [[nodiscard]] MachinePredictions predict(const FittedMachine& fitted, const Matrix<double>& decisions) const;

  /// Labels and classes of the subset; empty for numeric targets.
  [[nodiscard]] const PresentClasses& present() const { return present_; }
  [[nodiscard]] const std::vector<double>& targets() const { return targets_; }

 private:
  PresentClasses present_;
  std::vector<double> targets_;
  std::vector<double> weights_;
  MachineOptions machine_;
};

}  // namespace widelimit
