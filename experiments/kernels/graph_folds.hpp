#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/data/dataset.hpp"

#include <span>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A set of graphs with its published folds. They share no graph, and all others train; graphs may belong to none: they
/// always train.
struct GraphFolds {
  Dataset data;
  std::vector<std::vector<Index>> folds;

  /// `name` of the catalogue: "MUTAG". Error{input} where the folds overlap or do not train on all others.
  GraphFolds(const std::string& name, const Setting& setting);

  [[nodiscard]] Index count() const { return std::ssize(folds); }
  /// All graphs but those of folds f and g.
  [[nodiscard]] std::vector<Index> without(Index f, Index g) const;
};

/// Accuracies of support vector machines of one Gram matrix.
struct FoldAccuracies {
  Matrix<double> tests;  ///< C × fold, trained on all other folds
  /// C × fold f: the mean over the other folds of the accuracy of machines that are trained on neither that fold nor f.
  /// It chooses C and kernel for f. Empty unless asked for.
  Matrix<double> inner;
  Index unsolved = 0;  ///< machines that miss graph_tolerance
};

/// Relative duality gap of machines. On MUTAG and PTC 1e-6 gives the same accuracies.
inline constexpr double graph_tolerance = 1e-3;

/// Machines with bias, one-vs-one, equal votes to the first class. With `nested` there are those of all pairs of folds,
/// too: each tells both folds that it does not know.
[[nodiscard]] FoldAccuracies fold_accuracies(const Setting& setting, const GraphFolds& set, const Matrix<double>& k,
                                             std::span<const double> costs, bool nested);

}  // namespace widelimit::experiment
