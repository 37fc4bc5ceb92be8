#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/certificate/interval/interval.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

/// Σ wᵢ·xᵢ of intervals w, feature by feature: middles, and what is between them and the truth.
class SlopeSum {
 public:
  SlopeSum(Index features, Index terms)
      : error_(static_cast<double>(terms + 4) * 0x1p-52),
        least_(2 * static_cast<double>(terms) * std::numeric_limits<double>::min()),
        middle_(at(features)),
        reach_(at(features)) {}

  void add(const Interval& weight, const double* row) {
    const double middle = weight.middle();
    const double widened = (weight.radius() + error_ * std::abs(middle)) * (1 + 0x1p-50);
    for (std::size_t j = 0; j < middle_.size(); ++j) {
      middle_[j] += middle * row[j];
      reach_[j] += widened * std::abs(row[j]);
    }
  }
  /// A sum of n products is off by (n + 1)·2⁻⁵³ of those of absolute values at most, and by underflow.
  [[nodiscard]] Interval feature(Index j) const {
    const double reach = reach_[at(j)] * (1 + 2 * error_) + least_;
    return outward(below(middle_[at(j)] - reach), above(middle_[at(j)] + reach));
  }

 private:
  double error_, least_;
  std::vector<double> middle_, reach_;
};

}  // namespace widelimit
