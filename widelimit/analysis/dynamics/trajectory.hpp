#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/machine/summary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Initial machine: g(0) = Kα₀ + h. The part outside the span of the samples is given by its values h and decays as
/// e^{−λt}, or by the factor 1 − ηλ per step. Empty views mean 0.
struct Start {
  MatrixView<const double> alpha = {};        ///< α₀: samples × outputs
  MatrixView<const double> offset = {};       ///< h on the samples
  MatrixView<const double> test_offset = {};  ///< h on the test points

  [[nodiscard]] bool outside() const { return offset.rows > 0 || test_offset.rows > 0; }
};

/// Which parts of a trajectory are recorded.
struct Recording {
  std::optional<AnyView> test;                ///< K(test, train); records the outputs of these points
  std::optional<std::vector<Index>> samples;  ///< training samples to record; default: all
  bool coefficients = false;                  ///< records α at every time, not only at the end
};

/// Behaviour of an output at a kink of the loss.
enum class KinkBehaviour : std::uint8_t {
  crosses,  ///< crosses the kink
  slides,   ///< stays on the kink with a subgradient strictly between the two slopes
  leaves,   ///< leaves the kink after sliding
  rests,    ///< stays on the kink with the slope of one side
};
[[nodiscard]] const char* text(KinkBehaviour behaviour);

struct FlowEvent {
  double time = 0;
  Index sample = 0;
  Index output = 0;
  KinkBehaviour meeting = KinkBehaviour::crosses;
};

/// Check of L(β_t) − L(β*) ≤ bound(t)·(L(β₀) − L(β*)) along a trajectory: EQ Theorem 3.1 with bound e^{−2λt}, and for
/// descent on a smooth loss the product of 1 − 2ηλ(1 − ηM/2), M = λ + l''λ_max(K). [docs/theory/dynamics.md]
struct RateCheck {
  std::optional<double> optimum;        ///< L(β*), if available
  std::optional<double> largest_ratio;  ///< largest ratio of left to right side, over times at which the right side is
                                        ///< above rounding
  std::optional<double> at;             ///< time or step of the largest ratio
  std::optional<bool> holds;            ///< empty if there was no check
  std::string note;                     ///< reason if `holds` is empty
};

/// Outputs of a machine during training, one row per recorded time or step.
struct Trajectory {
  std::vector<double> times;    ///< times of a flow, or step numbers
  Index outputs = 0;            ///< columns of the targets
  std::vector<Index> samples;   ///< recorded training samples
  Matrix<double> train;         ///< times × (samples·outputs), the outputs of one sample adjacent
  Matrix<double> test;          ///< times × (test points·outputs)
  Matrix<double> coefficients;  ///< times × (all samples·outputs), if requested
  std::vector<double> objective;  ///< λ/2‖β‖² + Σ l; without λ/2‖h‖² of an initial function outside the span
  std::vector<double> loss;       ///< Σ l
  Matrix<double> alpha;           ///< final coefficients: all samples × outputs
  double offset_left = 1;         ///< final factor of h
  std::vector<FlowEvent> events;  ///< first events of a flow with kinks
  Index event_count = 0;          ///< number of all events
  RateCheck rate;
  /// Descent: largest relative deviation |g − Kα|/max |g| of outputs updated by EQ (5) from those of the coefficients.
  std::optional<double> recursion_error;
  std::optional<double> stable_step;  ///< descent: largest stable step, if there is one
  std::optional<double> step;         ///< descent: constant step size
  Summary summary;
};

}  // namespace widelimit
