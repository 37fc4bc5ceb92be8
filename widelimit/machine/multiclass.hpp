#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/sparse_machines.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Multi-class support vector machines from binary ones that share a Gram matrix. Labels are 0 … classes − 1 and each
/// occurs. α is samples × outputs, zero if a sample is not in the problem of that output.
///
/// One-vs-one: one output per pair (0,1), (0,2), …, (1,2), …, positive for the first class; a pair uses only the rows
/// and columns of its samples. One-vs-rest: one output per class. Problems are solved in parallel. The Summary has the
/// sum of their objectives, the largest gap and the worst ending.
[[nodiscard]] Fit fit_one_vs_one(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                 const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);
[[nodiscard]] Fit fit_one_vs_rest(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                  const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);

/// Same for each λ, in the given order; every problem is warm-started from the largest λ down. Ignores options.lambda.
[[nodiscard]] std::vector<Fit> one_vs_one_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                               std::span<const double> lambdas, const SvmOptions& options = {},
                                               SvmLoss loss = SvmLoss::hinge);
[[nodiscard]] std::vector<Fit> one_vs_rest_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                                std::span<const double> lambdas, const SvmOptions& options = {},
                                                SvmLoss loss = SvmLoss::hinge);

/// Returns the path with only the nonzero coefficients: for many classes a small part of the matrices of the fits.
[[nodiscard]] SparseMachines one_vs_one_machines(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                                 std::span<const double> lambdas, const SvmOptions& options = {},
                                                 SvmLoss loss = SvmLoss::hinge);

/// Returns the class of each row of one-vs-one decisions: most votes; ties by the larger sum of decisions in its favour
/// (not with one_vs_one_first), then by the lowest class.
[[nodiscard]] std::vector<Index> vote(const MatrixView<const double>& decisions, Index classes,
                                      Scheme scheme = Scheme::one_vs_one);

/// Same from K(test, train) and pairwise machines, by λ, then by scheme. Decisions are counted as they are computed,
/// and computed once if consecutive λ share a solution. Throws Error{input} as decision.
[[nodiscard]] std::vector<std::vector<std::vector<Index>>> vote(const SparseMachines& machines, Index classes,
                                                                const EngineMatrix& test_by_train,
                                                                std::span<const Scheme> schemes, const Engine& engine);

/// Returns the class of each row of one-vs-rest decisions: the largest output; ties by the lowest class.
[[nodiscard]] std::vector<Index> largest_output(const MatrixView<const double>& decisions);

}  // namespace widelimit
