#pragma once

#include "widelimit/analysis/scores.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <vector>

namespace widelimit::experiment {

/// Predictions and scores of a machine on the test images.
struct ImagePredictions {
  double lambda = 0;  ///< 0: ridgeless
  ClassScores score;
  std::vector<Index> predicted;  ///< predicted class of each image
  Summary summary;

  /// Returns whether the machine has a solution.
  [[nodiscard]] bool solved() const {
    return summary.ending == Ending::converged || summary.ending == Ending::iteration_limit;
  }
  /// Returns √(p(1 − p)/m) for accuracy p on m images.
  [[nodiscard]] double standard_error() const;
};

/// Computes predictions and scores from the decisions of a fitted machine on the test images.
[[nodiscard]] ImagePredictions image_predictions(const Fit& fit, Scheme scheme, Index classes,
                                                 MatrixView<const double> decisions,
                                                 std::span<const Index> test_labels);

/// Adds accuracy, its standard error and the number of correct images, if there is a solution, and the summary.
void add_predictions(nlohmann::ordered_json& json, const ImagePredictions& predictions);

}  // namespace widelimit::experiment
