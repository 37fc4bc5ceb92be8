#pragma once

#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Returns the sample indices of each class, ascending. Throws Error{input} unless labels are 0 … classes − 1 and each
/// class occurs.
[[nodiscard]] std::vector<std::vector<Index>> members_of(std::span<const Index> labels, Index classes);

/// Returns a problem for each pair (0,1), (0,2), …, (1,2), … with the samples of both classes; those of the first are
/// labelled 1. Samples keep the order of the Gram matrix, so that its columns are read in ascending order. With two
/// classes `samples` is empty, which means all.
[[nodiscard]] std::vector<BinaryProblem> pair_problems(const std::vector<std::vector<Index>>& members,
                                                       std::span<const double> weights);

/// Returns a problem for each class, labelled 1, against all others.
[[nodiscard]] std::vector<BinaryProblem> rest_problems(std::span<const Index> labels, Index classes,
                                                       std::span<const double> weights);

/// Returns a problem for each output of an SVM with that scheme: sign, one-vs-one or one-vs-rest.
[[nodiscard]] std::vector<BinaryProblem> binary_problems(std::span<const Index> labels, Index classes, Scheme scheme,
                                                         std::span<const double> weights);

}  // namespace widelimit
