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

/// Solutions for several λ. As λ falls a classifier that separates stays the solution, proof included.
struct SvmPath {
  std::vector<BoxSolution> solutions;  ///< from the largest λ down, each once
  std::vector<std::size_t> found_at;   ///< the place of its largest λ among those given
  std::vector<std::size_t> of_lambda;  ///< the solution of each λ, as they were given

  [[nodiscard]] const BoxSolution& at(std::size_t lambda) const { return solutions[of_lambda[lambda]]; }
};

/// Warm-started from the largest λ down. Nothing is checked here.
[[nodiscard]] SvmPath solve_svm_path(const GramMatrix& k, const BinaryProblem& problem, std::span<const double> lambdas,
                                     SvmLoss loss, const SvmOptions& options, Progress* progress);

/// The summary of a solution, in terms of EQ's objective with this λ, where targets and coefficients were divided by
/// 2^power; numbers beyond float64 are left out.
[[nodiscard]] Summary svm_summary(const BoxSolution& solution, double lambda, SvmLoss loss, int power = 0);

/// One for each λ; the iterations of a solution are counted where it was found.
[[nodiscard]] std::vector<Summary> svm_summaries(const SvmPath& path, std::span<const double> lambdas, SvmLoss loss);

/// Error{input} unless all λ are finite and positive.
void check_lambdas(std::span<const double> lambdas);
/// Error{input} unless bounds wᵢ/λ of coefficients stay clear of the ends of float64 for all weights above 0.
void check_bounds(std::span<const double> lambdas, std::span<const double> weights);

}  // namespace widelimit
