#pragma once

#include "widelimit/finite/training/loss.hpp"

namespace widelimit {

/// min(l(z, y), c)/u: a loss of EQ Table 1 made bounded, which bounds on its mean need. Its range is c/u, and its
/// Lipschitz constant in z is the largest slope that l has where it is below c, over u:
///
///     hinge, ε-insensitive 1      squared, squared hinge 2√c      logistic 1 − e^{−c}
///
/// since |l'| = 2√l for the two squares and 1 − e^{−l} for the logistic loss.               [docs/theory/bounds.md]
struct ClippedLoss {
  Loss loss;
  double clip = 1;  ///< c, positive and finite
  double unit = 1;  ///< u

  [[nodiscard]] double range() const { return clip / unit; }
  [[nodiscard]] double lipschitz() const;
  /// Of one output z with its target y.
  [[nodiscard]] double value(double z, double y) const;
};

/// Error{usage} for softmax, which is not of one output, Error{input} unless 0 < clip is finite.
[[nodiscard]] ClippedLoss clipped_loss(const Loss& loss, double clip);

/// Clipped at l(0, ±1) and divided by it: range 1, and no less than 1 wherever yz ≤ 0, so that its mean bounds the
/// share of wrong signs. The hinge becomes the ramp min(1, max(0, 1 − yz)). Error{usage} for softmax, Error{input} for
/// ε ≥ 1, where the loss does not detect a wrong sign.
[[nodiscard]] ClippedLoss error_loss(const Loss& loss);

}  // namespace widelimit
