#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/training/augmentation.hpp"
#include "widelimit/finite/training/learning_schedule.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/finite/training/optimiser.hpp"
#include "widelimit/finite/training/train_record.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace widelimit {

/// State of one training step for an observer, before the step, with its gradient. Borrowed.
struct TrainStep {
  Index step = 0;
  double time = 0;                   ///< sum of the previous step sizes
  double rate = 0;                   ///< size of this step
  std::span<const Index> batch;      ///< sample indices
  double weight = 1;                 ///< n/|B|, the weight of each sample
  MatrixView<const double> outputs;  ///< f, or f − f₀ if centred, on the batch
  MatrixView<const double> slopes;   ///< l' at the outputs (plus √λ·b for `aux`)
  std::variant<const Parameters<float>*, const Parameters<double>*> parameters;
  const Architecture* architecture = nullptr;
};
using TrainObserver = std::function<void(const TrainStep&)>;

/// Training minimises λ·penalty + Σᵢ l(f(xᵢ), yᵢ) by
///   w ← w − rate·(λ·∇penalty + (n/|B|)·Σ_{i∈B} l'(f(xᵢ), yᵢ)·∇f(xᵢ)),
/// or by another optimiser with the same gradient. The sum runs over all samples for the full batch; a batch B is
/// scaled to n samples, so that the mean step is the full step. In the limit of `init` this is the recursion of the
/// machine, g ← g − rate·(λg + (n/|B|)·Σ_B l'(gᵢ)·K(·,xᵢ)).
struct TrainOptions {
  Index width = 1024;
  std::vector<Index> layer_widths = {};  ///< widths per layer instead of `width`; see Widths::layers
  Parameterisation parameterisation = Parameterisation::ntk;
  Initialisation initialisation = Initialisation::normal;
  Loss loss = {};
  Regulariser regulariser = Regulariser::init;
  double lambda = 0;
  std::optional<double> rate = {};  ///< absent: default_rate
  Index steps = 1000;
  std::optional<Index> epochs = {};  ///< passes over all samples, instead of `steps`
  Index batch = 0;                   ///< batch size; 0: all samples
  Optimiser optimiser = {};          ///< default: plain gradient descent
  LearningSchedule schedule = {};    ///< of the rate
  Augmentation augmentation = {};    ///< of the images of each step
  bool centred = false;              ///< train f − f₀, with f₀ the network at initialisation
  bool linearised = false;           ///< train f₀ + J(w₀)(w − w₀) instead of f
  /// If positive, integrate the gradient flow up to this time with adaptive steps (Heun's method, full batch); `rate`
  /// is the first step size and `steps` the maximum number of steps.
  double flow_time = 0;
  double tolerance = 1e-3;  ///< flow: local error of an output per step, relative to 1 + the largest output
  std::uint64_t seed = 0;   ///< of weights, batches and dropout
  Precision precision = Precision::f64;
  Index records = 101;  ///< number of recorded steps, limited by memory (bounded_records)
  /// Record these steps instead, ascending, plus the first and the last; not for a flow. Empty: use `records`.
  std::vector<Index> record_at = {};
  bool record_outputs = true;
  /// False: descent never evaluates all samples and the record stays empty, for networks so wide that an evaluation
  /// costs as much as the steps. A flow always evaluates.
  bool keep_record = true;
  std::optional<std::size_t> memory = {};  ///< memory limit in bytes; default: the available memory
  /// Called with the current training including its state every `checkpoint_every` steps and at the end, unless it
  /// diverged or the network is dead; 0: ten times. The argument is valid during the call.
  std::function<void(const TrainedNetwork&)> checkpoint = {};
  Index checkpoint_every = 0;
  /// With a state: resumes this training, with the same network, seed, samples and optimiser. With the same options the
  /// result is bit-identical to an uninterrupted training. The record starts here. Without a state: starts a new
  /// training at its weights (fine-tuning), with the same network, seed and function; samples, loss, optimiser and
  /// regulariser may differ. In both cases w₀ is that of the seed. Borrowed.
  const TrainedNetwork* from = nullptr;
  /// Starts at these weights instead of drawn ones, in step `initial_step` of the schedule and of the batches, with a
  /// reset optimiser. They serve as w₀, e.g. of a linearisation. For branches of a training; not stored in files.
  /// Borrowed.
  const AnyParameters* initial = nullptr;
  Index initial_step = 0;
  Progress* progress = nullptr;
  TrainObserver observer = {};

  /// Throws Error{usage} for an invalid value.
  void validate() const;
  /// Returns the number of steps for this many samples: `steps`, or those of all `epochs`, without incomplete batches.
  [[nodiscard]] Index steps_on(Index samples) const;
};

/// Returns the schedule of evaluations for a training by steps, with `numbers` outputs each. Throws Error{resource} if
/// explicitly requested steps do not fit into memory.
[[nodiscard]] RecordSchedule record_schedule(const TrainOptions& options, Index numbers);

/// Samples with targets, one row each; test targets are optional. Borrowed.
struct TrainData {
  SampleView x;
  MatrixView<const double> y;
  std::optional<SampleView> test = {};
  MatrixView<const double> test_y = {};
};

/// Returns the learning rate that `train` uses by default. Costs a few dozen passes over 256 samples.
[[nodiscard]] double default_rate(const Network& network, const TrainData& data, const TrainOptions& options,
                                  const Engine& engine = all_processors());

/// Trains a network. Throws Error{usage} for invalid options, Error{input} for data that do not fit, Error{resource} if
/// memory is insufficient. Divergence and a dead network are reported in the summary; the parameters are always finite:
/// the initial ones if the last are not.
[[nodiscard]] TrainedNetwork train(const Network& network, const TrainData& data, const TrainOptions& options,
                                   const Engine& engine = all_processors());

}  // namespace widelimit
