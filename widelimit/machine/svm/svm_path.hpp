#pragma once

#include "widelimit/machine/svm/box_solver.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// A binary problem on some samples of a shared Gram matrix.
struct BinaryProblem {
  std::vector<Index> samples;   ///< its rows and columns; empty for all
  std::vector<double> labels;   ///< ±1, one per sample
  std::vector<double> weights;  ///< one per sample; empty for 1
};

/// Solutions for several λ. As λ decreases, a separating classifier remains the solution, including its proof.
struct SvmPath {
  std::vector<BoxSolution> solutions;  ///< distinct solutions, from the largest λ down
  std::vector<std::size_t> found_at;   ///< per solution, the index of its largest λ in `lambdas`
  std::vector<std::size_t> of_lambda;  ///< per λ, the index of its solution

  [[nodiscard]] const BoxSolution& at(std::size_t lambda) const { return solutions[of_lambda[lambda]]; }
};

/// Solves the path with warm starts from the largest λ down. Does not check its arguments.
[[nodiscard]] SvmPath solve_svm_path(const GramMatrix& k, const BinaryProblem& problem, std::span<const double> lambdas,
                                     SvmLoss loss, const SvmOptions& options, Progress* progress);

/// Returns the summary of a solution in terms of the objective of EQ at this λ, if targets and coefficients were
/// divided by 2^power; values that overflow float64 are omitted.
[[nodiscard]] Summary svm_summary(const BoxSolution& solution, double lambda, SvmLoss loss, int power = 0);

/// Returns a summary for each λ; the iterations of a shared solution are counted once.
[[nodiscard]] std::vector<Summary> svm_summaries(const SvmPath& path, std::span<const double> lambdas, SvmLoss loss);

/// Throws Error{input} unless all λ are finite and positive.
void check_lambdas(std::span<const double> lambdas);
/// Throws Error{input} unless the bounds wᵢ/λ neither overflow nor underflow for any positive weight.
void check_bounds(std::span<const double> lambdas, std::span<const double> weights);
/// Throws Error{input} unless the Gram matrix has `samples` rows and passes its check.
void check_box_input(const GramMatrix& k, Index samples);
/// Throws Error{input} unless all labels are 1 or −1 and both occur.
void check_signs(std::span<const double> labels);

}  // namespace widelimit
