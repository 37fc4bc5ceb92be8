#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/train.hpp"

namespace widelimit {

/// What a loss is to learn of samples: ±1 or one output a class, or the numbers themselves. Error{input} where they
/// have neither.
[[nodiscard]] Matrix<double> training_targets(const Dataset& data, const std::vector<std::string>& classes,
                                              const Loss& loss);

/// The same of both parts of loaded data.
struct NetworkTargets {
  Matrix<double> train;
  Matrix<double> test;  ///< no rows where test samples are unlabelled or absent

  /// Samples and targets together; borrows from both.
  [[nodiscard]] TrainData with(const TrainTest& data) const;
};

/// Error{input} where the training samples have no labels.
[[nodiscard]] NetworkTargets network_targets(const TrainTest& data, const Loss& loss);

}  // namespace widelimit
