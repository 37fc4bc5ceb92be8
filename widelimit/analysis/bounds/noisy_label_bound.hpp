#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit {

/// Labels ±1 of which each was flipped with probability p < ½, learned by k(x,X)(H + λI)⁻¹ỹ; what is bounded is the
/// share of wrong signs beside the clean labels y.
struct NoisyLabels {
  double flip = 0;  ///< p

  /// Error{input} unless 0 ≤ p < ½.
  void validate() const;
};

/// NT-L Theorem 6 with 1 for its O(·): (√λ·√(yᵀH⁻¹y/n) + 1/√λ)/(1 − 2p), y the clean labels. A shape, not a guarantee:
/// the work does not give the constants.                                                      [docs/theory/bounds.md]
[[nodiscard]] double noisy_label_shape(const NoisyLabels& labels, double norm_square, Index samples, double lambda);

/// The λ that makes it least, √(n/yᵀH⁻¹y); its value there is 2(yᵀH⁻¹y/n)^¼/(1 − 2p).
[[nodiscard]] double noisy_label_best_lambda(double norm_square, Index samples);

/// A guarantee: P(sign f ≠ ỹ) = p + (1 − 2p)·P(sign f ≠ y) for flips that do not depend on x, so a bound of the left
/// on noisy labels is (bound − p)/(1 − 2p) for the clean ones, at least 0. Needs p, and no clean label.
[[nodiscard]] double clean_error_bound(const NoisyLabels& labels, double noisy_bound);

}  // namespace widelimit
