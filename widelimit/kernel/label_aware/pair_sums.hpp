#pragma once

#include "widelimit/engine/host/compensated_pass.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Element-wise sums of many vectors, accumulated in twice the precision of float64.
class CompensatedSums {
 public:
  explicit CompensatedSums(Index count) : high_(usize(count), 0.0), low_(usize(count), 0.0) {}
  void add(std::span<const double> part, double weight) {
    host::accumulate(part.data(), weight, high_.data(), low_.data(), std::ssize(part));
  }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> sums(high_.size());
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = high_[k] + low_[k];
    return sums;
  }

 private:
  std::vector<double> high_;
  std::vector<double> low_;
};

}  // namespace widelimit
