#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/present_classes.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// What is true of all samples: classes 0 … classes − 1, or numbers.
struct Truth {
  std::span<const Index> labels;  ///< empty where numbers are learned
  std::span<const double> targets;

  [[nodiscard]] bool classes() const { return !labels.empty(); }
  [[nodiscard]] Index samples() const { return classes() ? std::ssize(labels) : std::ssize(targets); }
};

/// What a machine says of some samples.
struct Told {
  std::vector<Index> classes;
  std::vector<double> values;  ///< instead, where it learned numbers
};

/// Loss of each of `rows`: 1 where another class is told, else 0; or (y − g)².
[[nodiscard]] std::vector<double> losses_of(const Truth& truth, const Told& told, std::span<const Index> rows);
/// Their sum, each times its weight. Weights of all samples; none means 1.
[[nodiscard]] double sum_of_errors(const Truth& truth, const Told& told, std::span<const Index> rows,
                                   std::span<const double> weights);

/// What a machine learns from a part of the samples, such as the training rows of a fold. A part may have fewer classes
/// than all samples: its machines know those, and tell them by their numbers among all.
class PartTask {
 public:
  /// `machine` has the weights of all samples and all classes.
  PartTask(const Truth& truth, std::span<const Index> rows, const MachineOptions& machine);

  /// Of this part alone. Borrows its weights.
  [[nodiscard]] MachineOptions machine(double lambda) const;
  /// By the Gram matrix of the part.
  [[nodiscard]] FittedMachine fit(const GramMatrix& k, double lambda) const;
  /// What the decisions of its machine on any samples say.
  [[nodiscard]] Told told(const FittedMachine& fitted, const Matrix<double>& decisions) const;

  /// Labels and classes of the part; none where numbers are learned.
  [[nodiscard]] const PresentClasses& present() const { return present_; }
  [[nodiscard]] const std::vector<double>& targets() const { return targets_; }

 private:
  PresentClasses present_;
  std::vector<double> targets_;
  std::vector<double> weights_;
  MachineOptions machine_;
};

}  // namespace widelimit
