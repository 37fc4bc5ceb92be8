#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/training/optimiser.hpp"
#include "widelimit/finite/training/train_record.hpp"
#include "widelimit/network/network.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace widelimit {

/// Penalty on the weights of a network, added to Σ l(f(xᵢ), yᵢ). The penalties have different limits of infinite
/// width.                                             [docs/theory/finite.md]
enum class Regulariser : std::uint8_t {
  none,
  /// (i) λ/2‖W‖² of the output layer W = (w_std/√m)·w, with W itself as the trained variable (EQ): decays f at rate λ
  /// exactly at every width, but the output layer's part of the kernel is m times larger.
  output,
  /// (ii) the same penalty with w as the trained variable: decays f at rate λ·w_std²/m only, not at all in the limit.
  weights,
  /// (iii) λ/2‖w − w₀‖² of all trained weights, the distance to initialisation: the one whose limit is the kernel
  /// machine.
  init,
  /// An auxiliary √λ·bᵢ added to the output at each sample and trained with the weights, b = 0 initially; with
  /// the squared loss the limit is that of a ridge λ, where `init` has the ridge λ/2.
  aux,
};
/// "none", "output", "weights", "init", "aux".
[[nodiscard]] std::string_view to_string(Regulariser regulariser);
/// Error{usage} lists the choices.
[[nodiscard]] Regulariser parse_regulariser(std::string_view text);
/// Description for help and pages.
[[nodiscard]] std::string_view words(Regulariser regulariser);

enum class TrainEnding {
  finished,
  diverged,    ///< the loss left all bounds, or the objective ended above its start; the message says what to do
  step_limit,  ///< a flow did not reach its time
  dead,        ///< outputs are the same for all samples, and no gradient changes that
};
[[nodiscard]] const char* text(TrainEnding ending);

struct TrainSummary {
  TrainEnding ending = TrainEnding::finished;
  std::string message;
  Index steps = 0;  ///< taken
  double rate = 0;  ///< learning rate; of a flow, its first step size
  double time = 0;  ///< Σ of the step sizes
  double seconds = 0;
  Index weights = 0;  ///< trained numbers

  [[nodiscard]] bool finished() const { return ending == TrainEnding::finished; }
};

/// What a training needs besides weights, steps and time to go on where it stopped, as if it never had.
struct TrainState {
  Optimiser optimiser;
  AnyParameters velocity;  ///< without slots where the optimiser keeps none
  AnyParameters squares;
  std::vector<double> auxiliary;  ///< b, n × outputs, under `aux`
  std::vector<double> auxiliary_velocity;
  double first_loss = 0;  ///< at the start
  double first_objective = 0;
  std::uint64_t samples = 0;  ///< checksum of samples and targets
};

/// A trained network: all that is needed to evaluate it elsewhere.
struct TrainedNetwork {
  Network network;
  Shape shape;  ///< of one sample, as it was given
  Widths widths;
  Regulariser regulariser = Regulariser::none;
  std::uint64_t seed = 0;
  bool centred = false;
  bool linearised = false;
  Architecture architecture;
  AnyParameters parameters;
  AnyParameters start;  ///< w₀, a pure function of architecture and seed
  TrainingRecord record;
  TrainSummary summary;
  std::optional<TrainState> state;  ///< of a checkpoint

  [[nodiscard]] Precision precision() const {
    return std::holds_alternative<Parameters<float>>(parameters) ? Precision::f32 : Precision::f64;
  }
};

/// The architecture that is trained: under `output` the output layer's scaled weights are its variables.
/// Error{input} where that regulariser, or `weights`, finds no dense or conv layer at the end, or a frozen one.
[[nodiscard]] Architecture trained_architecture(const Network& network, const Shape& input, const Widths& widths,
                                                Regulariser regulariser);

/// Outputs on samples, n × outputs: f − f₀ where centred. Dropout off.
[[nodiscard]] Matrix<double> predict_outputs(const TrainedNetwork& trained, const SampleView& x,
                                             const Engine& engine = all_processors(), Progress* progress = nullptr);

}  // namespace widelimit
