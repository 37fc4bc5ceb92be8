#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace widelimit::test {

/// Bounds as functions of radius/root with their zero at 1: linear, convex, concave, flat, and with a jump.
inline std::vector<std::function<double(double)>> bound_shapes() {
  return {
      [](double x) { return 1 - x; },
      [](double x) { return 1 - x * x; },
      [](double x) { return 1 - 0.5 * x - 0.5 * std::pow(x, 8); },
      [](double x) { return 1 - std::sqrt(x); },
      [](double x) { return std::exp(-8 * x) - std::exp(-8.0); },
      [](double x) { return x < 1 ? 1e-12 : -1e12; },
      [](double x) { return x < 1 ? 1.0 : -std::numeric_limits<double>::infinity(); },
  };
}

}  // namespace widelimit::test
