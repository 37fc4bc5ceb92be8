#pragma once

#include "widelimit/finite/training/train.hpp"

#include <vector>

namespace widelimit {

struct BarrierOptions {
  Index points = 11;  ///< values of α from 0 to 1

  /// Error{usage} names what is wrong.
  void validate() const;
};

/// Errors on the way between two sets of weights w₁ and w₂ (NT-L; Frankle et al. 2020):
///   max_α [Err(αw₁ + (1−α)w₂) − αErr(w₁) − (1−α)Err(w₂)].
/// Err is the error rate where targets are classes, else the mean of the losses.
struct BarrierCurve {
  std::vector<double> alphas;  ///< share of the first child
  std::vector<double> errors;
  double barrier = 0;  ///< 0 at least, since the ends are on the way
};

/// Two children that a training has from step `step` on: the same weights and remaining steps, other batches.
struct ErrorBarrier {
  Index step = 0;
  BarrierCurve train;
  std::optional<BarrierCurve> test;
  double apart = 0;  ///< ‖w₁ − w₂‖
};

/// Error rate, or mean loss where targets are no classes.
[[nodiscard]] double prediction_error(MatrixView<const double> outputs, MatrixView<const double> targets,
                                      const Loss& loss);

/// Errors along αw₁ + (1−α)w₂, on training and test samples. Error{usage} where the networks differ.
[[nodiscard]] ErrorBarrier error_barrier(const TrainedNetwork& first, const TrainedNetwork& second,
                                         const TrainData& data, const Loss& loss, const BarrierOptions& options,
                                         const Engine& engine = all_processors(), Progress* progress = nullptr);

/// Error{usage} where a training has no children: full batches without augmentation, which make all alike; a
/// regulariser that pulls to the first start; auxiliary outputs.
void require_children(const TrainOptions& options, Index samples);

/// Children of the training `options` at step `step` with the weights `weights`, one for each seed, which draw their
/// batches, dropout and augmentation. The optimiser begins at rest. Error{usage} as above; linearised networks are all
/// the same by intent.
[[nodiscard]] std::vector<TrainedNetwork> spawn_children(const Network& network, const TrainData& data,
                                                         const TrainOptions& options, const AnyParameters& weights,
                                                         Index step, std::span<const std::uint64_t> seeds,
                                                         const Engine& engine = all_processors());

}  // namespace widelimit
