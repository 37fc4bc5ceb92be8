#pragma once

#include "widelimit/base/types.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Of two classes, the shares that lie above a threshold.
struct RocPoint {
  double false_positive = 0;  ///< of the negative samples
  double true_positive = 0;   ///< of the positive samples
};

/// Receiver operating characteristic: a point for every threshold that tells samples apart, from (0, 0), where it lies
/// above all scores, to (1, 1).
struct Roc {
  std::vector<RocPoint> points;
  /// Probability that a positive sample scores above a negative one, a tie counting half: the area under the line
  /// through the points, exact but for one rounding.
  double area = 0;
  Index positives = 0;
  Index negatives = 0;
};

/// Nothing where a class has no sample. Error{usage} where lengths differ, Error{input} for a score that is not finite.
/// O(n log n).
[[nodiscard]] std::optional<Roc> roc(std::span<const double> scores, const std::vector<bool>& positive);

}  // namespace widelimit
