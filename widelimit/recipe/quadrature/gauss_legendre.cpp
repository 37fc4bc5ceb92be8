#include "widelimit/recipe/quadrature/gauss_legendre.hpp"

#include <cmath>
#include <numbers>

namespace widelimit {

GaussLegendre gauss_legendre(int order) {
  using Real = long double;
  const auto size = static_cast<std::size_t>(order);
  GaussLegendre rule{std::vector<double>(size), std::vector<double>(size)};
  const auto n = static_cast<Real>(order);
  for (std::size_t i = 0; i < size; ++i) {
    Real x = -std::cos(std::numbers::pi_v<Real> * (static_cast<Real>(i) + 0.75L) / (n + 0.5L));
    Real slope = 1;
    for (int step = 0; step < 8; ++step) {  // Newton from this start has converged after five
      Real previous = 1;
      Real value = x;
      for (int k = 2; k <= order; ++k) {
        const auto degree = static_cast<Real>(k);
        const Real following = ((2 * degree - 1) * x * value - (degree - 1) * previous) / degree;
        previous = value;
        value = following;
      }
      slope = n * (x * value - previous) / (x * x - 1);
      x -= value / slope;
    }
    rule.nodes[i] = static_cast<double>(x);
    rule.weights[i] = static_cast<double>(2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace widelimit
