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

/// One training step for an observer: the state before the step, and its gradient. Borrowed.
struct TrainStep {
  Index step = 0;
  double time = 0;                   ///< Σ of the step sizes before
  double rate = 0;                   ///< size of this step
  std::span<const Index> batch;      ///< its samples
  double weight = 1;                 ///< n/|B|, the weight of each of them
  MatrixView<const double> outputs;  ///< f, or f − f₀ where centred, of the batch
  MatrixView<const double> slopes;   ///< l' at the outputs (with √λ·b added, under `aux`)
  std::variant<const Parameters<float>*, const Parameters<double>*> parameters;
  const Architecture* architecture = nullptr;
};
using TrainObserver = std::function<void(const TrainStep&)>;

/// Training minimises λ·penalty + Σᵢ l(f(xᵢ), yᵢ) by
///   w ← w − rate·(λ·∇penalty + (n/|B|)·Σ_{i∈B} l'(f(xᵢ), yᵢ)·∇f(xᵢ)),
/// or by what another optimiser makes of the same gradient: the sum over all samples for the full batch; a batch B is
/// scaled to n samples, so that the mean step is the full step. In the limit of `init` this is g ← g − rate·(λg +
/// (n/|B|)·Σ_B l'(gᵢ)·K(·,xᵢ)), the recursion of the machine.
struct TrainOptions {
  Index width = 1024;
  std::vector<Index> layer_widths = {};  ///< of single layers in place of `width`; see Widths::layers
  Parameterisation parameterisation = Parameterisation::ntk;
  Initialisation initialisation = Initialisation::normal;
  Loss loss = {};
  Regulariser regulariser = Regulariser::init;
  double lambda = 0;
  std::optional<double> rate = {};  ///< absent: a stable one (default_rate)
  Index steps = 1000;
  Index epochs = 0;                ///< passes over all samples, in place of `steps`; 0: by steps
  Index batch = 0;                 ///< batch size; 0: all samples
  Optimiser optimiser = {};        ///< plain gradient descent
  LearningSchedule schedule = {};  ///< of the rate, along the steps
  Augmentation augmentation = {};  ///< of the images of each step
  bool centred = false;            ///< train f − f₀, f₀ the network at initialisation
  bool linearised = false;         ///< train f₀ + J(w₀)(w − w₀) in place of f
  /// Follow the gradient flow to this time instead, with adaptive steps (Heun, full batch); `rate` is the first step
  /// size and `steps` the maximum number. 0: no flow.
  double flow_time = 0;
  double tolerance = 1e-3;  ///< flow: error of an output in one step, relative to 1 + the largest output
  std::uint64_t seed = 0;   ///< of weights, batches and dropout
  Precision precision = Precision::f64;
  Index records = 101;  ///< number of recorded steps, limited by memory (bounded_records)
  /// Record these steps instead, increasing, and the first and the last; not for a flow. Empty: by `records`.
  std::vector<Index> record_at = {};
  bool record_outputs = true;
  /// Without it descent never looks at all samples, and the record stays empty: for networks so wide that a look costs
  /// as much as the steps. A flow always looks.
  bool look = true;
  std::optional<std::size_t> memory = {};  ///< memory limit in bytes; default: the available memory
  /// Called with the training so far, its state included, every `checkpoint_every` steps and at the end, unless it
  /// diverged or died; 0: ten times. Valid during the call.
  std::function<void(const TrainedNetwork&)> checkpoint = {};
  Index checkpoint_every = 0;
  /// With a state: goes on with this training, of the same network, seed, samples and optimiser. With the same options
  /// it ends, bit for bit, where it would have ended without a stop. The record begins here. Without a state: a new
  /// training that begins at its weights (fine-tuning), of the same network, seed and function; samples, loss,
  /// optimiser and regulariser may be others. w₀ is that of the seed, for both. Borrowed.
  const TrainedNetwork* from = nullptr;
  /// Begins at these weights in place of drawn ones, in step `initial_step` of the schedule and of the batches, the
  /// optimiser at rest. They are w₀: what is linearised is linearised there. For branches of a training; a file keeps
  /// no such start. Borrowed.
  const AnyParameters* initial = nullptr;
  Index initial_step = 0;
  Progress* progress = nullptr;
  TrainObserver observer = {};

  /// Error{usage} names what is wrong.
  void validate() const;
  /// The steps of a training on so many samples: `steps`, or those of all `epochs`. What an epoch leaves over, fewer
  /// samples than a batch, is not used in it.
  [[nodiscard]] Index steps_on(Index samples) const;
};

/// When a training by steps looks, `numbers` outputs at a time. Error{resource} where the steps asked for by name are
/// more than memory holds.
[[nodiscard]] RecordSchedule record_schedule(const TrainOptions& options, Index numbers);

/// Samples with targets, a row each; test samples may come without targets. Borrowed.
struct TrainData {
  SampleView x;
  MatrixView<const double> y;
  std::optional<SampleView> test = {};
  MatrixView<const double> test_y = {};
};

/// The learning rate that `train` takes where options give none. As costly as a few dozen passes over 256 samples.
[[nodiscard]] double default_rate(const Network& network, const TrainData& data, const TrainOptions& options,
                                  const Engine& engine = all_processors());

/// Error{usage} for options, Error{input} for data that do not fit, Error{resource} for memory. A training that
/// diverges, or whose network dies, is data: see the summary; its parameters are finite, those of the start where the
/// last are not.
[[nodiscard]] TrainedNetwork train(const Network& network, const TrainData& data, const TrainOptions& options,
                                   const Engine& engine = all_processors());

}  // namespace widelimit
