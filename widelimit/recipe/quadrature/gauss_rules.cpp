#include "widelimit/recipe/quadrature/gauss_rules.hpp"

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
    for (int step = 0; step < 8; ++step) {  // Newton's method; converges in five steps from this start
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

namespace {

/// Number of eigenvalues below x of the Jacobi matrix with zero diagonal and off-diagonal √k (Sturm sequence).
int eigenvalues_below(long double x, int order) {
  int below = 0;
  long double pivot = -x;
  for (int k = 1; k <= order; ++k) {
    if (pivot < 0) ++below;
    if (k == order) break;
    if (pivot == 0) pivot = 1e-4000L;
    pivot = -x - static_cast<long double>(k) / pivot;
  }
  return below;
}

long double node(int index, int order) {
  long double low = 0;
  long double high = 2.0L * std::sqrt(static_cast<long double>(order)) + 1.0L;
  for (int step = 0; step < 80; ++step) {
    const long double middle = 0.5L * (low + high);
    (eigenvalues_below(middle, order) > index ? high : low) = middle;
  }
  return 0.5L * (low + high);
}

}  // namespace

void hermite_polynomials(long double z, int count, long double* values) {
  if (count > 0) values[0] = 1;
  if (count > 1) values[1] = z;
  for (int k = 1; k + 1 < count; ++k) {
    const auto degree = static_cast<long double>(k);
    values[k + 1] = (z * values[k] - std::sqrt(degree) * values[k - 1]) / std::sqrt(degree + 1);
  }
}

GaussHermite gauss_hermite(int order) {
  GaussHermite rule;
  const auto size = static_cast<std::size_t>(order);
  rule.nodes.assign(size, 0);
  rule.weights.assign(size, 0);
  std::vector<long double> values(size);
  for (int index = order / 2; index < order; ++index) {
    const bool middle = order % 2 == 1 && index == order / 2;
    const long double z = middle ? 0 : node(index, order);
    hermite_polynomials(z, order, values.data());
    long double norm = 0;
    for (const long double value : values) norm += value * value;
    const auto at = static_cast<std::size_t>(index);
    rule.nodes[at] = z;
    rule.nodes[size - 1 - at] = -z;
    rule.weights[at] = rule.weights[size - 1 - at] = 1 / norm;
  }
  return rule;
}

}  // namespace widelimit
