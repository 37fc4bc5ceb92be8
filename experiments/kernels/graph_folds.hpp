#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/data/dataset.hpp"

#include <span>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// A graph data set with its published folds. Folds are disjoint, and all other graphs are used for training; graphs in
/// no fold are always used for training.
struct GraphFolds {
  Dataset data;
  std::vector<std::vector<Index>> folds;

  /// Loads `name` of the catalogue, e.g. "MUTAG". Throws Error{input} if folds overlap or do not train on all others.
  GraphFolds(const std::string& name, const Setting& setting);

  [[nodiscard]] Index count() const { return std::ssize(folds); }
  /// Returns all graphs except those of folds f and g.
  [[nodiscard]] std::vector<Index> without(Index f, Index g) const;
};

/// Accuracies of support vector machines on one Gram matrix.
struct FoldAccuracies {
  Matrix<double> tests;  ///< C × fold: accuracy of machines trained on all other folds
  /// C × fold f: mean over the other folds of the accuracy of machines trained without that fold and f. Used to select
  /// C and kernel for f. Empty unless requested.
  Matrix<double> inner;
  Index unsolved = 0;  ///< machines that do not reach graph_tolerance
};

/// Tolerance of the relative duality gap. On MUTAG and PTC, 1e-6 gives the same accuracies.
inline constexpr double graph_tolerance = 1e-3;

/// Fits one-vs-one machines with bias; ties go to the first class. With `nested` also fits a machine without each pair
/// of folds, and evaluates it on both.
[[nodiscard]] FoldAccuracies fold_accuracies(const Setting& setting, const GraphFolds& set, const Matrix<double>& k,
                                             std::span<const double> costs, bool nested);

}  // namespace widelimit::experiment
