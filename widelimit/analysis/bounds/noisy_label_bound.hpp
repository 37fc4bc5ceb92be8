#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit {

/// Labels ±1, each flipped with probability p < ½, fitted by k(x,X)(H + λI)⁻¹ỹ; the bounds concern the error rate with
/// respect to the clean labels y.
struct NoisyLabels {
  double flip = 0;  ///< p

  /// Throws Error{input} unless 0 ≤ p < ½.
  void validate() const;
};

/// Returns NT-L Theorem 6 with constant 1 for O(·): (√λ·√(yᵀH⁻¹y/n) + 1/√λ)/(1 − 2p), y the clean labels. Shows the
/// shape only: the paper gives no constants. [docs/theory/bounds.md]
[[nodiscard]] double noisy_label_shape(const NoisyLabels& labels, double norm_square, Index samples, double lambda);

/// Returns the minimiser λ = √(n/yᵀH⁻¹y); the minimum is 2(yᵀH⁻¹y/n)^¼/(1 − 2p).
[[nodiscard]] double noisy_label_best_lambda(double norm_square, Index samples);

/// Returns a valid bound: for flips independent of x, P(sign f ≠ ỹ) = p + (1 − 2p)·P(sign f ≠ y), so a bound for noisy
/// labels gives max(0, (bound − p)/(1 − 2p)) for the clean ones. Requires p, but no clean labels.
[[nodiscard]] double clean_error_bound(const NoisyLabels& labels, double noisy_bound);

}  // namespace widelimit
