#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/training/train.hpp"

#include <vector>

namespace widelimit {

/// Kernels train × train and test × train (no rows without test samples).
struct CompanionKernels {
  AnyMatrix train;
  AnyMatrix test;
  double seconds = 0;
};

/// Computes the infinite-width tangent kernels. Throws Error{resource} in advance if they do not fit into memory.
[[nodiscard]] CompanionKernels limit_kernels(const Network& network, const TrainData& data, const TrainOptions& options,
                                             const Engine& engine);
/// Computes the tangent kernels of the network at initialisation; the mean over its outputs if there are several.
[[nodiscard]] CompanionKernels start_kernels(const TrainedNetwork& trained, const TrainData& data, const Engine& engine,
                                             Progress* progress = nullptr);

/// Outputs of a machine at recorded steps.
struct MachinePath {
  Matrix<double> train;      ///< steps × (samples·outputs)
  Matrix<double> test;       ///< steps × (test samples·outputs)
  std::vector<double> loss;  ///< Σ l on the training samples
  Summary summary;
};

/// Trains the machine that corresponds to a network trained with these options, with the same steps and batches. Under
/// `aux` each sample has its own √λ·bᵢ: b evolves as the coordinate of a feature √λ·eᵢ, so the trained machine is that
/// of K + λI without λ, and the output of the network itself is Kα.
[[nodiscard]] MachinePath follow_machine(const CompanionKernels& kernels, const TrainData& data,
                                         const TrainOptions& options, const std::vector<Index>& steps,
                                         const Start& start, const Engine& engine);

}  // namespace widelimit
