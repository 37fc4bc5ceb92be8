#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/training/train.hpp"

#include <vector>

namespace widelimit {

/// Kernel of the training samples, and of the test samples with them (no rows where there are none).
struct CompanionKernels {
  AnyMatrix train;
  AnyMatrix test;
  double seconds = 0;
};

/// Tangent kernels of infinite width. Error{resource} before they are computed where they do not fit.
[[nodiscard]] CompanionKernels limit_kernels(const Network& network, const TrainData& data, const TrainOptions& options,
                                             const Engine& engine);
/// Tangent kernels of this network before it was trained; the mean over its outputs where it has several.
[[nodiscard]] CompanionKernels start_kernels(const TrainedNetwork& trained, const TrainData& data, const Engine& engine,
                                             Progress* progress = nullptr);

/// A machine at recorded steps.
struct MachinePath {
  Matrix<double> train;      ///< moments × (samples·outputs)
  Matrix<double> test;       ///< moments × (test samples·outputs)
  std::vector<double> loss;  ///< Σ l on the training samples
  Summary summary;
};

/// The machine beside a network trained so, by the same steps and batches. Under `aux` each sample has its own √λ·bᵢ:
/// b moves as a coordinate of the feature √λ·eᵢ would, so that what is trained is the machine of K + λI without λ, and
/// what the network itself puts out is Kα.
[[nodiscard]] MachinePath follow_machine(const CompanionKernels& kernels, const TrainData& data,
                                         const TrainOptions& options, const std::vector<Index>& steps,
                                         const Start& start, const Engine& engine);

}  // namespace widelimit
