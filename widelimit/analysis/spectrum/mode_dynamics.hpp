#pragma once

#include "widelimit/analysis/equivalence/line_fit.hpp"
#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace widelimit {

/// A network of finite width trained beside the prediction of a spectrum.
struct ModeOptions {
  Index width = 1024;
  Index steps = 500;
  /// η of gradient descent on ½‖f − y‖²; absent: 1/(2λ₁), a quarter of the stable rate, at which the fastest direction
  /// halves its error in each step.
  std::optional<double> rate;
  Index records = 60;      ///< about so many steps are recorded, denser at the start
  double fitted_to = 0.1;  ///< rates are fitted until the error of a direction is this share of its start
  std::uint64_t seed = 0;
  Precision precision = Precision::f64;
  std::optional<std::size_t> memory;
  Progress* progress = nullptr;

  /// Error{usage} names what is wrong.
  void validate() const;
};

/// The rate of one direction, by a line through log ‖⟨v_i, f_k − y⟩‖ over the first steps k.
struct ModeRate {
  Index mode = 0;
  double share = 0;       ///< of ‖y‖² in this direction
  double eigenvalue = 0;  ///< λ_i of the limit
  double fitted = 0;      ///< (1 − e^s)/η, s the slope: the eigenvalue that the network shows
  /// Of the least-squares slope, with 95 % where deviations from the line were independent. They are not quite: the
  /// curve is deterministic, and the interval tells how straight it is.
  std::optional<std::pair<double, double>> interval;
  Index points = 0;  ///< recorded steps that were fitted, 3 or more
};

/// Errors of a network in the eigendirections of the kernel of its limit, along gradient descent.
struct ModeDynamics {
  Index width = 0;
  double rate = 0;  ///< η
  std::vector<Index> steps;
  Matrix<double> measured;   ///< recorded steps × directions: ‖⟨v_i, y − f_k⟩‖ over the outputs
  Matrix<double> predicted;  ///< |1 − ηλ_i|ᵏ‖⟨v_i, y⟩‖
  std::vector<double> loss, predicted_loss;  ///< ‖f_k − y‖², by recorded step
  std::vector<double> distance;              ///< ‖w − w₀‖
  std::vector<ModeRate> rates;               ///< of directions that could be fitted, by direction
  double largest_difference = 0;             ///< max over steps of |loss − predicted_loss|/‖y‖²
  TrainSummary summary;
};

/// Trains f − f₀ from 0 by full-batch gradient descent on ½‖f − f₀ − y‖² and projects y − (f − f₀) at recorded steps.
/// `spectrum` is that of the limit of `network` on `x`, or of another kernel of these samples to compare with.
/// A training that diverges is data: its summary says so, and there are no rates. Error as `train`.
[[nodiscard]] ModeDynamics mode_dynamics(const Network& network, const SampleView& x, MatrixView<const double> y,
                                         const KernelSpectrum& spectrum, const ModeOptions& options,
                                         const Engine& engine);

/// About `count` different steps from 0 to `steps`, every one of the first, then by equal factors.
[[nodiscard]] std::vector<Index> geometric_steps(Index steps, Index count);

}  // namespace widelimit
