#pragma once

#include "widelimit/analysis/scores.hpp"

#include <span>
#include <vector>

namespace widelimit::experiment {

/// How well a machine tells the test images.
struct ToldImages {
  double lambda = 0;  ///< 0: ridgeless
  ClassScores score;
  std::vector<Index> told;  ///< class of each
  Summary summary;

  /// A machine without a solution tells nothing.
  [[nodiscard]] bool answered() const {
    return summary.ending == Ending::converged || summary.ending == Ending::iteration_limit;
  }
  /// √(p(1 − p)/m) of an accuracy p on m images.
  [[nodiscard]] double standard_error() const;
};

/// Of test images, by what a fitted machine decides on them.
[[nodiscard]] ToldImages told_images(const Fit& fit, Scheme scheme, Index classes, MatrixView<const double> decisions,
                                     std::span<const Index> test_labels);

}  // namespace widelimit::experiment
