#pragma once

#include "widelimit/analysis/equivalence/line_fit.hpp"
#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace widelimit {

/// Options of a finite-width training that is compared with the prediction of a spectrum.
struct ModeOptions {
  Index width = 1024;
  Index steps = 500;
  /// η of gradient descent on ½‖f − y‖²; default: 1/(2λ₁), a quarter of the stable rate, at which the error in the
  /// fastest direction halves in each step.
  std::optional<double> rate;
  Index records = 60;      ///< approximate number of recorded steps, denser at the start
  double fitted_to = 0.1;  ///< rates are fitted until the error of a direction falls to this fraction of its initial
                           ///< value
  std::uint64_t seed = 0;
  Precision precision = Precision::f64;
  std::optional<std::size_t> memory;
  Progress* progress = nullptr;

  /// Throws Error{usage} if an option is invalid.
  void validate() const;
};

/// Rate of one direction, from a line fit of log ‖⟨v_i, f_k − y⟩‖ over the first steps k.
struct ModeRate {
  Index mode = 0;
  double share = 0;       ///< fraction of ‖y‖² in this direction
  double eigenvalue = 0;  ///< λ_i of the limit
  double fitted = 0;      ///< (1 − e^s)/η, s the slope: the effective eigenvalue of the network
  /// Nominal 95 % interval of the least-squares slope under independent residuals. The curve is deterministic, so the
  /// interval only measures its straightness.
  std::optional<std::pair<double, double>> interval;
  Index points = 0;  ///< number of fitted recorded steps, at least 3
};

/// Errors of a network in the eigendirections of its limit kernel along gradient descent.
struct ModeDynamics {
  Index width = 0;
  double rate = 0;  ///< η
  std::vector<Index> steps;
  Matrix<double> measured;   ///< recorded steps × directions: ‖⟨v_i, y − f_k⟩‖ over the outputs
  Matrix<double> predicted;  ///< |1 − ηλ_i|ᵏ‖⟨v_i, y⟩‖
  std::vector<double> loss, predicted_loss;  ///< ‖f_k − y‖² per recorded step
  std::vector<double> distance;              ///< ‖w − w₀‖
  std::vector<ModeRate> rates;               ///< of the directions with a fit, in order
  double largest_difference = 0;             ///< max over steps of |loss − predicted_loss|/‖y‖²
  TrainSummary summary;
};

/// Trains f − f₀ from 0 by full-batch gradient descent on ½‖f − f₀ − y‖² and projects y − (f − f₀) at recorded steps.
/// `spectrum` belongs to the limit kernel of `network` on `x`, or to another kernel of these samples. If the training
/// diverges, the summary says so and there are no rates. Throws as `train`.
[[nodiscard]] ModeDynamics mode_dynamics(const Network& network, const SampleView& x, MatrixView<const double> y,
                                         const KernelSpectrum& spectrum, const ModeOptions& options,
                                         const Engine& engine);

/// Returns about `count` distinct steps from 0 to `steps`: consecutive at first, then geometrically spaced.
[[nodiscard]] std::vector<Index> geometric_steps(Index steps, Index count);

}  // namespace widelimit
