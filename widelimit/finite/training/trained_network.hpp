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

/// Penalty on the weights of a network, added to Σ l(f(xᵢ), yᵢ). The penalties have different infinite-width limits.
/// [docs/theory/finite.md]
enum class Regulariser : std::uint8_t {
  none,
  /// (i) λ/2‖W‖² of the output layer W = (w_std/√m)·w, with W itself as the trained variable (EQ): f decays at rate λ
  /// exactly at every width, but the output layer's part of the kernel is m times larger.
  output,
  /// (ii) the same penalty with w as the trained variable: f decays only at rate λ·w_std²/m, which vanishes in the
  /// limit.
  weights,
  /// (iii) λ/2‖w − w₀‖² of all trained weights, the distance to initialisation: its limit is the kernel machine.
  init,
  /// An auxiliary variable √λ·bᵢ, added to the output at each sample and trained with the weights from b = 0; with the
  /// squared loss the limit has the ridge λ, while `init` has the ridge λ/2.
  aux,
};
/// Returns "none", "output", "weights", "init" or "aux".
[[nodiscard]] std::string_view to_string(Regulariser regulariser);
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] Regulariser parse_regulariser(std::string_view text);
/// Returns a description for help texts and pages.
[[nodiscard]] std::string_view words(Regulariser regulariser);

enum class TrainEnding {
  finished,
  diverged,    ///< loss not finite or too large, or final objective above the initial one; see the message
  step_limit,  ///< a flow did not reach its final time
  dead,        ///< outputs are the same for all samples, and no gradient changes them
};
[[nodiscard]] const char* text(TrainEnding ending);

struct TrainSummary {
  TrainEnding ending = TrainEnding::finished;
  std::string message;
  Index steps = 0;  ///< number of steps taken
  double rate = 0;  ///< learning rate; of a flow, its first step size
  double time = 0;  ///< sum of the step sizes
  double seconds = 0;
  Index weights = 0;  ///< number of trained weights

  [[nodiscard]] bool finished() const { return ending == TrainEnding::finished; }
};

/// State required in addition to weights, steps and time to resume a training exactly.
struct TrainState {
  Optimiser optimiser;
  AnyParameters velocity;  ///< no slots if the optimiser has none
  AnyParameters squares;
  std::vector<double> auxiliary;  ///< b, n × outputs, for `aux`
  std::vector<double> auxiliary_velocity;
  double first_loss = 0;  ///< initial loss
  double first_objective = 0;
  std::uint64_t samples = 0;  ///< checksum of samples and targets
};

/// A trained network: everything needed to evaluate it elsewhere.
struct TrainedNetwork {
  Network network;
  Shape shape;  ///< of one original sample
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

/// Returns the architecture for training: for `output`, the output layer's scaled weights are its variables.
/// Throws Error{input} for regularisers `output` and `weights` if the last layer is not dense or conv, or is frozen.
[[nodiscard]] Architecture trained_architecture(const Network& network, const Shape& input, const Widths& widths,
                                                Regulariser regulariser);

/// Returns the outputs on samples, n × outputs: f − f₀ if centred. Dropout is off.
[[nodiscard]] Matrix<double> predict_outputs(const TrainedNetwork& trained, const SampleView& x,
                                             const Engine& engine = all_processors(), Progress* progress = nullptr);

}  // namespace widelimit
