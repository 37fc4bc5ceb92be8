#pragma once

#include "widelimit/machine/box_solver.hpp"
#include "widelimit/machine/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// One binary problem among those that share a Gram matrix.
struct BinaryProblem {
  std::vector<Index> samples;   ///< its rows and columns; empty for all
  std::vector<double> labels;   ///< ±1 of those
  std::vector<double> weights;  ///< of those; empty for 1
};

/// Solutions for each λ, in the order given, warm-started from the largest down. Nothing is checked here.
[[nodiscard]] std::vector<BoxSolution> solve_svm_path(const AnyView& k, const BinaryProblem& problem,
                                                      std::span<const double> lambdas, SvmLoss loss,
                                                      const SvmOptions& options, int threads, Progress* progress);

/// What a solution tells, in terms of EQ's objective with this λ.
[[nodiscard]] Summary svm_summary(const BoxSolution& solution, double lambda, SvmLoss loss);

/// Error{input} unless all λ are finite and positive.
void check_lambdas(std::span<const double> lambdas);

}  // namespace widelimit
