#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/labels/split.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit::experiment {

/// Predictions of support vector machines for the test rows of a fold.
struct FoldPredictions {
  /// By λ, then by rule: the predicted class of each test row.
  std::vector<std::vector<std::vector<Index>>> classes;
  Index unsolved = 0;  ///< machines that did not converge
};

struct FoldMachines {
  std::span<const double> lambdas;  ///< one machine per λ
  std::span<const Scheme> rules;    ///< one-vs-one schemes, which differ in breaking ties
  double tolerance = SvmOptions{}.tolerance;
  Progress* progress = nullptr;
};

/// Fits machines with bias, one-vs-one if the training part has more than two classes, and predicts the test part. K
/// must be positive semi-definite, e.g. the kernel of a network.
[[nodiscard]] FoldPredictions svm_predictions(const GramMatrix& k, std::span<const Index> labels, const SplitRows& fold,
                                              const FoldMachines& machines, const Engine& engine);

/// Returns the accuracy of the `predicted` classes of `rows`.
[[nodiscard]] double accuracy(std::span<const Index> predicted, std::span<const Index> rows,
                              std::span<const Index> labels);

}  // namespace widelimit::experiment
