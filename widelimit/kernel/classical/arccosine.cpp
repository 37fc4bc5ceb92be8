#include "widelimit/kernel/classical/arccosine.hpp"

#include "widelimit/base/error.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

struct Node {
  double point;
  double weight;
};

/// Gauss–Legendre on [0, π/2]. For c ≤ 0, the nearest poles of the integrand of J_n (cos ψ = 1/c) have |Re ψ| = π, so
/// that the error of 24 points is below rounding.
constexpr int quadrature_size = 24;

std::array<Node, quadrature_size> legendre_nodes() {
  std::array<Node, quadrature_size> nodes{};
  for (int i = 0; i < quadrature_size; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (quadrature_size + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 8; ++step) {  // Newton's method; converges in four steps from this start
      double previous = 1.0;
      double value = x;
      for (int k = 2; k <= quadrature_size; ++k) {
        const double following = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
        previous = value;
        value = following;
      }
      slope = quadrature_size * (x * value - previous) / (x * x - 1.0);
      x -= value / slope;
    }
    nodes[static_cast<std::size_t>(i)] = {std::cos((1.0 + x) * std::numbers::pi / 4.0),
                                          std::numbers::pi / 2.0 / ((1.0 - x * x) * slope * slope)};
  }
  return nodes;
}

double power(double base, Index exponent) {
  double result = 1.0;
  for (Index i = 0; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

Angle Angle::from_distance(double one_minus_abs_cosine, bool acute) {
  const double t = std::fmin(std::fmax(one_minus_abs_cosine, 0.0), 1.0);
  const double sine = std::sqrt(t * (2.0 - t));
  const double to_axis = 2.0 * std::asin(std::sqrt(t / 2.0));  // distance of θ to the nearer of 0 and π
  if (acute) return {1.0 - t, sine, std::numbers::pi - to_axis};
  return {t - 1.0, sine, to_axis};
}

ArccosineKernel::ArccosineKernel(Index order) : order_(order) {
  if (order < 0 || order > max_order) {
    fail(Code::input, "arccosine: degree = {} is outside 0 … {}", order, max_order);
  }
  polynomials_ = arccosine_polynomials(static_cast<int>(order));
  for (Index n = 2; n <= order; ++n) factorial_ *= static_cast<double>(n);
}

double ArccosineKernel::operator()(const Angle& angle) const {
  if (order_ == 0) return angle.supplement;
  if (angle.cosine >= 0.0) {
    return horner(polynomials_.a, angle.cosine) * angle.sine + horner(polynomials_.b, angle.cosine) * angle.supplement;
  }
  static const auto nodes = legendre_nodes();
  double integral = 0.0;
  for (const Node& node : nodes) {
    const double denominator = 1.0 - angle.cosine * node.point;
    integral += node.weight * power(node.point / denominator, order_) / denominator;
  }
  return factorial_ * power(angle.sine, 2 * order_ + 1) * integral;
}

}  // namespace widelimit
