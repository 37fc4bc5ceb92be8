#pragma once

#include "widelimit/base/types.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Rates at one threshold, for two classes.
struct RocPoint {
  double false_positive = 0;  ///< of the negative samples
  double true_positive = 0;   ///< of the positive samples
};

/// Receiver operating characteristic: a point for every distinct threshold, from (0, 0), where it is above all scores,
/// to (1, 1).
struct Roc {
  std::vector<RocPoint> points;
  /// Area under the curve: the probability that a positive sample scores above a negative one, ties counted half. Exact
  /// up to one rounding.
  double area = 0;
  Index positives = 0;
  Index negatives = 0;
};

/// Empty where a class has no sample. Error{usage} where lengths differ, Error{input} for a score that is not finite.
/// O(n log n).
[[nodiscard]] std::optional<Roc> roc(std::span<const double> scores, const std::vector<bool>& positive);

}  // namespace widelimit
