#include "widelimit/network/activation_jet.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

/// (d/dx)^order Σ coef_k x^k.
double polynomial_derivative(const std::vector<double>& coef, int order, double x) {
  double sum = 0;
  for (Index k = std::ssize(coef) - 1; k >= order; --k) {
    double falling = 1;
    for (Index j = 0; j < order; ++j) falling *= static_cast<double>(k - j);
    sum = sum * x + falling * coef[usize(k)];
  }
  return sum;
}

/// (d/dx)^order x^degree.
double power_derivative(Index degree, int order, double x) {
  if (degree < order) return 0;
  double result = 1;
  for (Index j = 0; j < order; ++j) result *= static_cast<double>(degree - j);
  for (Index j = order; j < degree; ++j) result *= x;
  return result;
}

/// σ = 1/(1 + e^{−x}): σ'' = σ'(1 − 2σ), σ''' = σ'((1 − 2σ)² − 2σ'), 1 − 2σ = −tanh(x/2).
Jet logistic_jet(double x) {
  const Activation sigmoid{.phi = Phi::sigmoid};
  const double slope = derivative(sigmoid, x);
  const double turn = -std::tanh(x / 2);
  return {evaluate(sigmoid, x), slope, slope * turn, slope * (turn * turn - 2 * slope)};
}

}  // namespace

Smoothness smoothness(const Activation& activation) {
  switch (activation.phi) {
    case Phi::sign:
    case Phi::custom:
      return Smoothness::none;
    case Phi::relu:
    case Phi::leaky_relu:
    case Phi::abs:
      return Smoothness::kinked;
    case Phi::rectified_monomial:
      if (activation.degree == 0) return Smoothness::none;
      return activation.degree < 3 ? Smoothness::kinked : Smoothness::smooth;
    default:
      return Smoothness::smooth;
  }
}

bool has_parity(const Activation& activation) {
  switch (activation.phi) {
    case Phi::abs:
    case Phi::erf:
    case Phi::sin:
    case Phi::cos:
    case Phi::gaussian:
    case Phi::monomial:
    case Phi::hermite:
    case Phi::identity:
    case Phi::tanh:
      return true;
    default:
      return false;
  }
}

Jet jet(const Activation& activation, double x) {
  const double value = evaluate(activation, x);
  if (smoothness(activation) == Smoothness::none) {
    fail(Code::usage, "{} has no derivatives up to the third; choose another activation, such as erf or tanh",
         activation.phi == Phi::custom ? activation.name : std::string(to_string(activation.phi)));
  }
  const double first = derivative(activation, x);
  switch (activation.phi) {
    case Phi::erf:
      return {value, first, -2 * x * first, (4 * x * x - 2) * first};
    case Phi::gelu: {  // φ'' = (2 − x²)n, n the normal density
      const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
      return {value, first, (2 - x * x) * density, x * (x * x - 4) * density};
    }
    case Phi::sin:
    case Phi::cos:
      return {value, first, -value, -first};
    case Phi::rbf:
      return {value, first, -2 * activation.gamma * value, -2 * activation.gamma * first};
    case Phi::exp:
      return {value, first, value, first};
    case Phi::gaussian:
      return {value, first, (4 * x * x - 2) * value, (12 - 8 * x * x) * x * value};
    case Phi::rectified_monomial:
      if (x < 0) return {};
      [[fallthrough]];
    case Phi::monomial:
      return {value, first, power_derivative(activation.degree, 2, x), power_derivative(activation.degree, 3, x)};
    case Phi::polynomial:
      return {value, first, polynomial_derivative(activation.coef, 2, x), polynomial_derivative(activation.coef, 3, x)};
    case Phi::hermite: {  // h_n' = √n·h_{n−1}
      const auto lower = [&](Index steps) {
        if (activation.degree < steps) return 0.0;
        double factor = 1;
        for (Index j = 0; j < steps; ++j) factor *= static_cast<double>(activation.degree - j);
        return std::sqrt(factor) * evaluate({.phi = Phi::hermite, .degree = activation.degree - steps}, x);
      };
      return {value, first, lower(2), lower(3)};
    }
    case Phi::tanh:
      return {value, first, -2 * value * first, first * (4 * value * value - 2 * first)};
    case Phi::sigmoid:
      return logistic_jet(x);
    case Phi::swish: {
      const Jet s = logistic_jet(x);
      return {value, first, 2 * s.first + x * s.second, 3 * s.second + x * s.third};
    }
    case Phi::softplus: {
      const Jet s = logistic_jet(x);
      return {value, s.value, s.first, s.second};
    }
    default:  // relu, leaky_relu, abs, identity: piecewise linear
      return {value, first, 0, 0};
  }
}

}  // namespace widelimit
