#pragma once

#include "widelimit/engine/cpu/vector/apply.hpp"

#include <vector>

/// The state of one pair of images: correlations and tangents of position pairs, relative to the deviations at both
/// positions, as strips: row p against all positions q, or one strip of equal positions.
namespace widelimit::cpu {

struct PairState {
  Index positions = 1;
  bool all_pairs = false;
  Index channels = 0;
  Matrix<double> values;  ///< ρ, t, θ_0, θ_1, …: `rows()` rows each

  PairState(Index position_count, bool all, Index channel_count)
      : positions(position_count),
        all_pairs(all),
        channels(channel_count),
        values((2 + channel_count) * (all ? position_count : 1), padded(position_count) + strip_padding) {}

  [[nodiscard]] Index rows() const { return all_pairs ? positions : 1; }
  [[nodiscard]] Index stride() const { return values.cols(); }
  [[nodiscard]] MatrixView<double> array(Index k) { return values.view().block(k * rows(), 0, rows(), positions); }
  [[nodiscard]] MatrixView<double> rho() { return array(0); }
  [[nodiscard]] MatrixView<double> t() { return array(1); }
  [[nodiscard]] MatrixView<double> theta(Index m) { return array(2 + m); }
  /// Element of position p with itself.
  [[nodiscard]] Index diagonal(Index p) const { return all_pairs ? p * stride() + p : p; }
  [[nodiscard]] Strip<double> strip(Index row) {
    return {positions, rho().row(row), t().row(row), theta(0).row(row), rows() * stride(), channels};
  }
};

/// What each step needs to know of one image.
struct ImageTrace {
  std::vector<Features> features;         ///< one for each step
  std::vector<Matrix<double>> attention;  ///< attend: ζ, one for each step (empty for others)
};

/// The two images of a run at one step.
struct TracePair {
  const Features* first = nullptr;
  const Features* second = nullptr;
  const Matrix<double>* attention_first = nullptr;
  const Matrix<double>* attention_second = nullptr;
};

/// Steps that treat every pair of positions alone. `self`: an image with itself, whose equal positions stay equal.
void apply_everywhere(const Step& step, const TracePair& traces, bool self, PairState* other, PairState& state);

/// window, pool, flatten and attend work on covariances relative to the largest deviation R of each image: features 0
/// are r/R before the step, features 1 are R/r after it.
[[nodiscard]] PairState window_step(const Step& step, const TracePair& traces, PairState& state);
/// Covariances relative to R R', from which an image with itself reads its variances before correlate() divides by
/// them.
[[nodiscard]] PairState pool_covariance(const Step& step, const TracePair& traces, PairState& state);
[[nodiscard]] PairState attend_covariance(const TracePair& traces, PairState& state);
/// Turns covariances into correlations by features 1.
void correlate(const TracePair& traces, PairState& state);
[[nodiscard]] PairState flatten_step(const TracePair& traces, PairState& state);

/// Sets ρ = 1, t = 0 at equal positions.
void mark_equal(PairState& state);
/// Drops the pairs of different positions.
[[nodiscard]] PairState equal_positions(PairState& state);

/// Positions that window element k of each output position reads; −1 on padding. windows[k][P].
[[nodiscard]] std::vector<std::vector<Index>> window_sources(const Step& step);

}  // namespace widelimit::cpu
