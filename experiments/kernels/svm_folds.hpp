#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/labels/split.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit::experiment {

/// What support vector machines of the training rows of a fold tell of its test rows.
struct FoldAnswers {
  /// By λ, then by rule: the class of each test row.
  std::vector<std::vector<std::vector<Index>>> classes;
  Index unsolved = 0;  ///< machines that did not converge
};

struct FoldMachines {
  std::span<const double> lambdas;  ///< a machine for each
  std::span<const Scheme> rules;    ///< schemes of one-vs-one, which differ in how they decide equal votes
  double tolerance = SvmOptions{}.tolerance;
  Progress* progress = nullptr;
};

/// Machines with bias, one-vs-one where the fold trains on more classes than two. K is the kernel of a network, or
/// known to be positive semi-definite otherwise.
[[nodiscard]] FoldAnswers svm_answers(const GramMatrix& k, std::span<const Index> labels, const SplitRows& fold,
                                      const FoldMachines& machines, const Engine& engine);

/// The share of `rows` whose class was told.
[[nodiscard]] double accuracy(std::span<const Index> told, std::span<const Index> rows, std::span<const Index> labels);

}  // namespace widelimit::experiment
