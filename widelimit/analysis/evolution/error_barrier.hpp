#pragma once

#include "widelimit/finite/training/train.hpp"

#include <vector>

namespace widelimit {

struct BarrierOptions {
  Index points = 11;  ///< number of values of α from 0 to 1

  /// Throws Error{usage} if an option is invalid.
  void validate() const;
};

/// Errors on the line segment between two sets of weights w₁ and w₂, and the error barrier (NT-L; Frankle et al. 2020):
///   max_α [Err(αw₁ + (1−α)w₂) − αErr(w₁) − (1−α)Err(w₂)].
/// Err is the error rate for classification and the mean loss otherwise.
struct BarrierCurve {
  std::vector<double> alphas;  ///< weight α of the first child
  std::vector<double> errors;
  double barrier = 0;  ///< at least 0, since the ends are included
};

/// Error barrier between two children of a training: trainings that continue from the same weights at step `step` for
/// the remaining steps with different batches.
struct ErrorBarrier {
  Index step = 0;
  BarrierCurve train;
  std::optional<BarrierCurve> test;
  double apart = 0;  ///< ‖w₁ − w₂‖
};

/// Returns the error rate, or the mean loss if targets are not classes.
[[nodiscard]] double prediction_error(MatrixView<const double> outputs, MatrixView<const double> targets,
                                      const Loss& loss);

/// Computes errors along αw₁ + (1−α)w₂ on training and test samples. Throws Error{usage} if the networks differ.
[[nodiscard]] ErrorBarrier error_barrier(const TrainedNetwork& first, const TrainedNetwork& second,
                                         const TrainData& data, const Loss& loss, const BarrierOptions& options,
                                         const Engine& engine = all_processors(), Progress* progress = nullptr);

/// Throws Error{usage} if a training cannot have children: full batches without augmentation, which make all children
/// equal; a regulariser towards the initial weights; a centred network; auxiliary outputs.
void require_children(const TrainOptions& options, Index samples);

/// Trains one child per seed, from step `step` with the weights `weights`; the seed determines batches, dropout and
/// augmentation. The optimiser state starts at zero. Throws Error{usage} as above, except for linearised networks,
/// whose children can be equal.
[[nodiscard]] std::vector<TrainedNetwork> spawn_children(const Network& network, const TrainData& data,
                                                         const TrainOptions& options, const AnyParameters& weights,
                                                         Index step, std::span<const std::uint64_t> seeds,
                                                         const Engine& engine = all_processors());

}  // namespace widelimit
