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

/// The samples on which the kernel is watched. Borrowed.
struct Probe {
  SampleView x;
  MatrixView<const double> y;           ///< targets, as in TrainData
  std::span<const Index> classes = {};  ///< where targets are classes; else nothing is said of classes
};

struct EvolutionOptions {
  TrainOptions train;
  /// Checkpoints: steps, rising; those of the start and the end are added. Empty: by `at_epochs`, else by
  /// `checkpoints`.
  std::vector<Index> at = {};
  std::vector<double> at_epochs = {};  ///< the same in epochs, each rounded to a step
  /// So many, at the shares (k/(checkpoints − 1))² of all steps, since kernels change most at the beginning.
  Index checkpoints = 12;
  OutputKernelOptions kernel = {};             ///< its seed is that of the training
  std::optional<TangentOptions> tangent = {};  ///< tangent training from checkpoints
  std::optional<BarrierOptions> barrier = {};  ///< error barriers between two children of checkpoints
  std::vector<Index> branch_at = {};           ///< checkpoints of both, among all; empty: all but the last
  bool keep_kernels = true;                    ///< in the result

  /// Error{usage} names what is wrong.
  void validate() const;
  /// Steps of one pass over so many samples.
  [[nodiscard]] Index steps_in_epoch(Index samples) const;
  /// All checkpoints of a training on so many samples.
  [[nodiscard]] std::vector<Index> steps(Index samples) const;
};

/// What is seen at one checkpoint. Optional values are absent where they have no meaning.  [docs/theory/evolution.md]
struct Checkpoint {
  Index step = 0;
  double epoch = 0;
  double loss = 0;  ///< Σ l over all training samples
  std::optional<double> accuracy;
  std::optional<double> test_accuracy;
  double kernel_norm = 0;                    ///< ‖K_t‖_F on the probe set
  double distance = 0;                       ///< S(0, t)
  std::optional<double> velocity;            ///< S(s, t)/(t − s) per epoch, s the checkpoint before
  double alignment = 0;                      ///< ⟨K_t, YYᵀ⟩/(‖K_t‖‖YYᵀ‖)
  std::optional<double> largest_eigenvalue;  ///< λ_max of Θ̂ with all outputs, on all n training samples
  /// η·l''·λ_max, η the rate of the step: descent on the linearised network is stable below 2. Of Adam, and of losses
  /// without curvature, there is none.
  std::optional<double> sharpness;
  double moved = 0;                        ///< ‖w − w₀‖
  double moved_share = 0;                  ///< ‖w − w₀‖/‖w₀‖
  std::optional<double> gates_changed;     ///< share of gates of the probe samples that differ from the start
  std::optional<double> gates_since_last;  ///< the same from the checkpoint before
  std::optional<ClassMeans> classes;       ///< of the mean over outputs
  std::optional<double> elasticity;        ///< local elasticity, LA (9)
  std::vector<double> class_distances;     ///< S(0, t) of each output's kernel, where kernels are kept by class
  double kernel_error = 0;                 ///< relative standard error of a sketch
};

struct Evolution {
  std::vector<Checkpoint> checkpoints;
  Matrix<double> distances;                          ///< S(t, s) of all pairs of checkpoints
  std::vector<std::vector<Matrix<double>>> kernels;  ///< per checkpoint, one or one for each output, unless dropped
  std::vector<TangentTraining> tangent;
  std::vector<ErrorBarrier> barriers;
  TrainedNetwork trained;
  std::vector<std::string> remarks;
  double seconds = 0;
};

/// Trains a network and watches its empirical tangent kernel on the probe set; then trains tangent models and pairs of
/// children from checkpoints where asked for. A training that diverges or dies is data: checkpoints up to there, and no
/// branches. Error{usage} for options and for what has no changing kernel (a linearised network, a flow), Error{input}
/// for data that do not fit, Error{resource} for memory.
[[nodiscard]] Evolution evolution(const Network& network, const TrainData& data, const Probe& probe,
                                  const EvolutionOptions& options, const Engine& engine = all_processors());

/// `count` samples for a probe set, or all where there are fewer: as many of each class as of any other, or one more,
/// the first of each in the order they have; classes one after the other. Without classes the first.
[[nodiscard]] std::vector<Index> probe_samples(std::span<const Index> classes, Index samples, Index count);

}  // namespace widelimit
