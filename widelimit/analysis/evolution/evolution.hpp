#pragma once

#include "widelimit/analysis/evolution/error_barrier.hpp"
#include "widelimit/analysis/evolution/kernel_measures.hpp"
#include "widelimit/analysis/evolution/tangent_training.hpp"
#include "widelimit/finite/tangent/output_kernels.hpp"
#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Samples on which the kernel is evaluated; not owned.
struct Probe {
  SampleView x;
  MatrixView<const double> y;           ///< targets, as in TrainData
  std::span<const Index> classes = {};  ///< class labels; empty disables the class statistics
};

struct EvolutionOptions {
  TrainOptions train;
  /// Checkpoints as ascending steps; the first and last step are added. If empty, `at_epochs` or else `checkpoints`
  /// applies.
  std::vector<Index> at = {};
  std::vector<double> at_epochs = {};  ///< same in epochs, rounded to steps
  /// Number of checkpoints, at the fractions (k/(checkpoints − 1))² of all steps, since kernels change most at the
  /// beginning.
  Index checkpoints = 12;
  OutputKernelOptions kernel = {};             ///< its seed is replaced by that of the training
  std::optional<TangentOptions> tangent = {};  ///< tangent training from checkpoints
  std::optional<BarrierOptions> barrier = {};  ///< error barriers between two children of each checkpoint
  std::vector<Index> branch_at = {};           ///< checkpoints for both; empty means all but the last
  bool keep_kernels = true;                    ///< keep kernels in the result

  /// Throws Error{usage} if an option is invalid.
  void validate() const;
  /// Returns the number of steps per epoch.
  [[nodiscard]] Index steps_in_epoch(Index samples) const;
  /// Returns all checkpoints for this number of samples.
  [[nodiscard]] std::vector<Index> steps(Index samples) const;
};

/// Measurements at one checkpoint. Optional values are empty if undefined. [docs/theory/evolution.md]
struct Checkpoint {
  Index step = 0;
  double epoch = 0;
  double loss = 0;  ///< Σ l over all training samples
  std::optional<double> accuracy;
  std::optional<double> test_accuracy;
  double kernel_norm = 0;                    ///< ‖K_t‖_F on the probe set
  double distance = 0;                       ///< S(0, t)
  std::optional<double> velocity;            ///< S(s, t)/(t − s) per epoch, s the previous checkpoint
  double alignment = 0;                      ///< ⟨K_t, YYᵀ⟩/(‖K_t‖‖YYᵀ‖)
  std::optional<double> largest_eigenvalue;  ///< λ_max of Θ̂ with all outputs, extrapolated to all n training samples
  /// η·l''·λ_max, η the learning rate of the step: descent on the linearised network is stable below 2. Undefined for
  /// adaptive optimisers and for losses without curvature.
  std::optional<double> sharpness;
  double moved = 0;                        ///< ‖w − w₀‖
  double moved_share = 0;                  ///< ‖w − w₀‖/‖w₀‖
  std::optional<double> gates_changed;     ///< fraction of gates on the probe samples that differ from the start
  std::optional<double> gates_since_last;  ///< same relative to the previous checkpoint
  std::optional<ClassMeans> classes;       ///< of the mean kernel over outputs
  std::optional<double> elasticity;        ///< local elasticity, LA (9)
  std::vector<double> class_distances;     ///< S(0, t) per output, if there is one kernel per output
  double kernel_error = 0;                 ///< relative standard error of the random projections
};

struct Evolution {
  std::vector<Checkpoint> checkpoints;
  Matrix<double> distances;                          ///< S(t, s) for all pairs of checkpoints
  std::vector<std::vector<Matrix<double>>> kernels;  ///< per checkpoint: one, or one per output; empty unless kept
  std::vector<TangentTraining> tangent;
  std::vector<ErrorBarrier> barriers;
  TrainedNetwork trained;
  std::vector<std::string> remarks;
  double seconds = 0;
};

/// Trains a network and evaluates its empirical tangent kernel on the probe set; then trains tangent models and pairs
/// of children from checkpoints, if requested. If the training diverges or dies, the result has the checkpoints before
/// it and no branches. Throws Error{usage} for invalid options and for trainings without a changing kernel (linearised
/// network, gradient flow), Error{input} for data that do not match, Error{resource} for insufficient memory.
[[nodiscard]] Evolution evolution(const Network& network, const TrainData& data, const Probe& probe,
                                  const EvolutionOptions& options, const Engine& engine = all_processors());

/// Chooses min(count, samples) probe samples: balanced over classes up to one, the first of each class in their order,
/// class by class. Without classes the first samples.
[[nodiscard]] std::vector<Index> probe_samples(std::span<const Index> classes, Index samples, Index count);

}  // namespace widelimit
