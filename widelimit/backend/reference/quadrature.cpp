#include "widelimit/backend/reference/quadrature.hpp"

#include "widelimit/recipe/gauss_hermite.hpp"

#include <array>
#include <cmath>

namespace widelimit::reference {

namespace {

constexpr int order = 160;

const GaussHermite& rule() {
  static const GaussHermite nodes = gauss_hermite(order);
  return nodes;
}

/// φ and φ' at x.
std::array<double, 2> at(const Recipe& recipe, const Dual& dual, double x) {
  if (dual.phi != Phi::custom) {
    const Activation activation{.phi = dual.phi};
    return {evaluate(activation, x), derivative(activation, x)};
  }
  const double h = 1e-3 * std::max(1.0, std::abs(x));
  const std::array<double, 5> points{x, x - 2 * h, x - h, x + h, x + 2 * h};
  std::array<double, 5> values{};
  (*recipe.functions[static_cast<std::size_t>(dual.function)])(points, values);
  return {values[0], (values[1] - 8 * values[2] + 8 * values[3] - values[4]) / (12 * h)};
}

}  // namespace

DualValue<long double> quadrature_dual(const Recipe& recipe, const Dual& dual, long double q1, long double q2,
                                       long double c) {
  const long double rho = correlation(q1, q2, c);
  const long double rest = std::sqrt((1 - rho) * (1 + rho));
  const long double s1 = std::sqrt(q1);
  const long double s2 = std::sqrt(q2);
  DualValue<long double> sum{0, 0};
  for (int i = 0; i < order; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const long double z = rule().nodes[row];
    const auto u = at(recipe, dual, static_cast<double>(s1 * z));
    DualValue<long double> inner{0, 0};
    for (int j = 0; j < order; ++j) {
      const auto col = static_cast<std::size_t>(j);
      const auto v = at(recipe, dual, static_cast<double>(s2 * (rho * z + rest * rule().nodes[col])));
      inner.sigma += rule().weights[col] * static_cast<long double>(v[0]);
      inner.dot += rule().weights[col] * static_cast<long double>(v[1]);
    }
    sum.sigma += rule().weights[row] * static_cast<long double>(u[0]) * inner.sigma;
    sum.dot += rule().weights[row] * static_cast<long double>(u[1]) * inner.dot;
  }
  return sum;
}

}  // namespace widelimit::reference
