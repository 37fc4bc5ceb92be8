#pragma once

#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Samples of each class, in order. Error{input} unless labels are 0 … classes − 1 and each occurs.
[[nodiscard]] std::vector<std::vector<Index>> members_of(std::span<const Index> labels, Index classes);

/// Pairs (0,1), (0,2), …, (1,2), …, each with the samples of its two classes, those of the first labelled 1, in the
/// order of the Gram matrix, so that its columns are read forwards; of two classes all samples.
[[nodiscard]] std::vector<BinaryProblem> pair_problems(const std::vector<std::vector<Index>>& members,
                                                       std::span<const double> weights);

/// Each class, labelled 1, against the rest.
[[nodiscard]] std::vector<BinaryProblem> rest_problems(std::span<const Index> labels, Index classes,
                                                       std::span<const double> weights);

/// A problem for each output of a support vector machine of that scheme: sign, one-vs-one or one-vs-rest.
[[nodiscard]] std::vector<BinaryProblem> binary_problems(std::span<const Index> labels, Index classes, Scheme scheme,
                                                         std::span<const double> weights);

}  // namespace widelimit
