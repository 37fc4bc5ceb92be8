#pragma once

#include "widelimit/machine/svm/box_solver.hpp"
#include "widelimit/machine/svm/svm.hpp"

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
[[nodiscard]] std::vector<BoxSolution> solve_svm_path(const GramMatrix& k, const BinaryProblem& problem,
                                                      std::span<const double> lambdas, SvmLoss loss,
                                                      const SvmOptions& options, Progress* progress);

/// The summary of a solution, in terms of EQ's objective with this λ, where targets and coefficients were divided by
/// 2^power; numbers beyond float64 are left out.
[[nodiscard]] Summary svm_summary(const BoxSolution& solution, double lambda, SvmLoss loss, int power = 0);

/// Error{input} unless all λ are finite and positive.
void check_lambdas(std::span<const double> lambdas);
/// Error{input} unless bounds wᵢ/λ of coefficients stay clear of the ends of float64 for all weights above 0.
void check_bounds(std::span<const double> lambdas, std::span<const double> weights);

}  // namespace widelimit
