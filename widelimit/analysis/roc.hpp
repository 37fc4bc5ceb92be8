#pragma once

#include "widelimit/base/types.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// False and true positive rate at one threshold.
struct RocPoint {
  double false_positive = 0;  ///< fraction of the negative samples
  double true_positive = 0;   ///< fraction of the positive samples
};

/// Receiver operating characteristic of a binary classifier: one point per distinct threshold, from (0, 0) to (1, 1).
struct Roc {
  std::vector<RocPoint> points;
  /// Area under the curve: the probability that a positive sample scores above a negative one, ties counted half. Exact
  /// up to one rounding.
  double area = 0;
  Index positives = 0;
  Index negatives = 0;
};

/// Returns std::nullopt if a class has no samples. Throws Error{usage} if lengths differ and Error{input} if a score is
/// not finite. O(n log n).
[[nodiscard]] std::optional<Roc> roc(std::span<const double> scores, const std::vector<bool>& positive);

}  // namespace widelimit
