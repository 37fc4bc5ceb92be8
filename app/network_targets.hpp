#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/finite/train.hpp"

namespace widelimit::app {

/// What a network is to learn of loaded data: ±1 or one output a class, or the numbers themselves.
struct NetworkTargets {
  Matrix<double> train;
  Matrix<double> test;  ///< no rows where test samples are unlabelled or absent

  /// Samples and targets together; borrows from both.
  [[nodiscard]] TrainData with(const TrainTest& data) const;
};

/// Error{input} where the training samples have no labels.
[[nodiscard]] NetworkTargets network_targets(const TrainTest& data, const Loss& loss);

}  // namespace widelimit::app
