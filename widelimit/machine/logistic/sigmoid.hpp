#pragma once

namespace widelimit {

/// Probability of the class +1 by Platt (1999): P(y = 1 | g) = 1/(1 + exp(slope·g + offset)).
struct Sigmoid {
  double slope = -1;
  double offset = 0;
  [[nodiscard]] double probability(double g) const;
  bool operator==(const Sigmoid&) const = default;
};

}  // namespace widelimit
