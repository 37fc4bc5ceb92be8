#include "experiments/log_slope.hpp"

#include <cmath>

namespace widelimit::experiment {

double log_slope(std::span<const double> x, std::span<const double> y) {
  double mean_x = 0;
  double mean_y = 0;
  const auto count = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  double across = 0;
  double up = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    across += dx * dx;
    up += dx * (std::log(y[i]) - mean_y);
  }
  return across > 0 ? up / across : 0.0;
}

}  // namespace widelimit::experiment
