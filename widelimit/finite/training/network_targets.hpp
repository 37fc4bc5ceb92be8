#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/train.hpp"

namespace widelimit {

/// Returns the training targets of samples: ±1, one output per class, or regression targets. Throws Error{input} if the
/// data have neither labels nor targets.
[[nodiscard]] Matrix<double> training_targets(const Dataset& data, const std::vector<std::string>& classes,
                                              const Loss& loss);

/// Targets of the training and test part of loaded data.
struct NetworkTargets {
  Matrix<double> train;
  Matrix<double> test;  ///< no rows if test samples are unlabelled or absent

  /// Returns samples and targets together; borrows from both.
  [[nodiscard]] TrainData with(const TrainTest& data) const;
};

/// Throws Error{input} if the training samples have no labels.
[[nodiscard]] NetworkTargets network_targets(const TrainTest& data, const Loss& loss);

}  // namespace widelimit
