#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/machine/summary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Initial machine: g(0) = Kα₀ + h. The part outside the span of the samples is given by its values h, and decays as
/// e^{−λt}, or by 1 − ηλ a step. Empty views are 0.
struct Start {
  MatrixView<const double> alpha = {};        ///< α₀: samples × outputs
  MatrixView<const double> offset = {};       ///< h on the samples
  MatrixView<const double> test_offset = {};  ///< h on the test points

  [[nodiscard]] bool outside() const { return offset.rows > 0 || test_offset.rows > 0; }
};

/// Which parts of a trajectory are recorded.
struct Recording {
  std::optional<AnyView> test;                ///< K(test, train): record the outputs of these points
  std::optional<std::vector<Index>> samples;  ///< training samples whose outputs are recorded; default: all
  bool coefficients = false;                  ///< α at every recorded time, not at the end only
};

/// What an output does at a kink of the loss.
enum class Meeting : std::uint8_t {
  crosses,  ///< passes through
  slides,   ///< stays on it, with a multiplier between the two slopes
  leaves,   ///< slid before and moves on
  rests,    ///< stays on it with the multiplier of one side
};
[[nodiscard]] const char* text(Meeting meeting);

struct FlowEvent {
  double time = 0;
  Index sample = 0;
  Index output = 0;
  Meeting meeting = Meeting::crosses;
};

/// L(β_t) − L(β*) ≤ bound(t)·(L(β₀) − L(β*)) along a trajectory: EQ Theorem 3.1 with bound e^{−2λt}, and for descent
/// on a smooth loss the product of 1 − 2ηλ(1 − ηM/2), M = λ + l''λ_max(K).                  [docs/theory/dynamics.md]
struct RateCheck {
  std::optional<double> optimum;        ///< L(β*), where it was found
  std::optional<double> largest_ratio;  ///< of left to right side, where the right side is above rounding
  std::optional<double> at;             ///< the time or step of it
  std::optional<bool> holds;            ///< empty where there is nothing to check
  std::string note;                     ///< the reason where it is empty
};

/// Outputs of a machine during training, by time or step. A row for each recorded time.
struct Trajectory {
  std::vector<double> times;    ///< of a flow, or numbers of steps
  Index outputs = 0;            ///< columns of the targets
  std::vector<Index> samples;   ///< training samples whose outputs are kept
  Matrix<double> train;         ///< moments × (samples·outputs), the outputs of one sample side by side
  Matrix<double> test;          ///< moments × (test points·outputs)
  Matrix<double> coefficients;  ///< moments × (all samples·outputs), where asked for
  std::vector<double> objective;  ///< λ/2‖β‖² + Σ l; without λ/2‖h‖² of an initial function outside the span
  std::vector<double> loss;       ///< Σ l
  Matrix<double> alpha;           ///< at the end: all samples × outputs
  double offset_left = 1;         ///< factor of h at the end
  std::vector<FlowEvent> events;  ///< of a flow with kinks, the first of them
  Index event_count = 0;          ///< all of them
  RateCheck rate;
  /// Descent: largest |g − Kα| between outputs carried by EQ (5) and those of the coefficients, relative to max |g|.
  std::optional<double> recursion_error;
  std::optional<double> stable_step;  ///< descent: largest step that does not diverge, where there is one
  std::optional<double> step;         ///< descent: its constant step
  Summary summary;
};

}  // namespace widelimit
