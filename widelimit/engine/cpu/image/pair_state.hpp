#pragma once

#include "widelimit/engine/cpu/vector/apply.hpp"

#include <vector>

/// State of one pair of images: correlations and tangents of position pairs relative to the standard deviations at both
/// positions, stored as strips: position p against all positions q, or one strip of equal positions.
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
  /// Returns the element of position p paired with itself.
  [[nodiscard]] Index diagonal(Index p) const { return all_pairs ? p * stride() + p : p; }
  [[nodiscard]] Strip<double> strip(Index row) {
    return {positions, rho().row(row), t().row(row), theta(0).row(row), rows() * stride(), channels};
  }
};

/// Per-image data of each step.
struct ImageTrace {
  std::vector<Features> features;         ///< one per step
  std::vector<Matrix<double>> attention;  ///< attend: ζ, one per step, empty for others
};

/// Data of the two images at one step.
struct TracePair {
  const Features* first = nullptr;
  const Features* second = nullptr;
  const Matrix<double>* attention_first = nullptr;
  const Matrix<double>* attention_second = nullptr;
};

/// Applies a step that acts on every pair of positions separately. `self`: an image with itself, whose equal positions
/// stay equal.
void apply_everywhere(const Step& step, const TracePair& traces, bool self, PairState* other, PairState& state);

/// window, pool, flatten and attend work on covariances relative to the largest standard deviation R of each image:
/// feature 0 is r/R before the step, feature 1 is R/r after it.
[[nodiscard]] PairState window_step(const Step& step, const TracePair& traces, PairState& state);
/// Return covariances relative to R R'; for an image with itself they give the variances by which correlate() then
/// divides.
[[nodiscard]] PairState pool_covariance(const Step& step, const TracePair& traces, PairState& state);
[[nodiscard]] PairState attend_covariance(const TracePair& traces, PairState& state);
/// Converts covariances to correlations by feature 1.
void correlate(const TracePair& traces, PairState& state);
[[nodiscard]] PairState flatten_step(const TracePair& traces, PairState& state);

/// Sets ρ = 1, t = 0 at equal positions.
void mark_equal(PairState& state);
/// Returns the pairs of equal positions only.
[[nodiscard]] PairState equal_positions(PairState& state);

/// Returns windows[k][P]: the position that window element k of output position P reads; −1 for padding.
[[nodiscard]] std::vector<std::vector<Index>> window_sources(const Step& step);

}  // namespace widelimit::cpu
