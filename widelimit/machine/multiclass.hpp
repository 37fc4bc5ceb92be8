#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/sparse_machines.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Multi-class support vector machines from binary ones that share a Gram matrix. Labels are 0 … classes − 1 and
/// each occurs. α is samples × outputs, zero where a sample is not in the problem of that output.
///
/// One-vs-one: an output for each pair (0,1), (0,2), …, (1,2), …, positive for the first of the two; a pair uses the
/// rows and columns of its own samples only. One-vs-rest: an output for each class. Problems run in
/// parallel; objectives in the Summary are their sums, the gap is the largest, the ending the worst.
[[nodiscard]] Fit fit_one_vs_one(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                 const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);
[[nodiscard]] Fit fit_one_vs_rest(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                  const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);

/// The same for each λ, in that order, every problem warm-started from the largest λ down; options.lambda is not used.
[[nodiscard]] std::vector<Fit> one_vs_one_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                               std::span<const double> lambdas, const SvmOptions& options = {},
                                               SvmLoss loss = SvmLoss::hinge);
[[nodiscard]] std::vector<Fit> one_vs_rest_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                                std::span<const double> lambdas, const SvmOptions& options = {},
                                                SvmLoss loss = SvmLoss::hinge);

/// The path by its coefficients that are not 0: of many classes a small part of the matrices of the fits.
[[nodiscard]] SparseMachines one_vs_one_machines(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                                 std::span<const double> lambdas, const SvmOptions& options = {},
                                                 SvmLoss loss = SvmLoss::hinge);

/// Class of each row of one-vs-one decisions: most votes; ties by the larger sum of decisions in its favour, unless the
/// scheme is one_vs_one_first, then the lowest class.
[[nodiscard]] std::vector<Index> vote(const MatrixView<const double>& decisions, Index classes,
                                      Scheme scheme = Scheme::one_vs_one);

/// The same of K(test, train) and machines of pairs, by λ, then by scheme: their decisions are counted as they are
/// made, and made once where λ after λ shares a solution. Error{input} as in decision.
[[nodiscard]] std::vector<std::vector<std::vector<Index>>> vote(const SparseMachines& machines, Index classes,
                                                                const EngineMatrix& test_by_train,
                                                                std::span<const Scheme> schemes, const Engine& engine);

/// Class of each row of one-vs-rest decisions: the largest output; ties by the lowest class.
[[nodiscard]] std::vector<Index> largest_output(const MatrixView<const double>& decisions);

}  // namespace widelimit
