#pragma once

#include "widelimit/engine/enclosure/both.hpp"
#include "widelimit/engine/layers.hpp"

#include <cmath>

namespace widelimit {

/// Parts of the functions below.
namespace scalar {

constexpr double pi = 3.14159265358979323846;
constexpr double sqrt2 = 1.41421356237309504880;
constexpr double inv_sqrtpi = 0.56418958354775628695;

WIDELIMIT_BOTH inline double power(double x, Index degree) {
  double product = 1;
  for (Index i = 0; i < degree; ++i) product *= x;
  return product;
}

/// 1/(1 + e^{−x}) and its derivative, without overflow or cancellation.
WIDELIMIT_BOTH inline double logistic(double x) {
  const double e = exp(-fabs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}
WIDELIMIT_BOTH inline double logistic_slope(double x) {
  const double e = exp(-fabs(x));
  return e / ((1 + e) * (1 + e));
}

/// h_n = He_n/√n!, by √(n+1)·h_{n+1} = x·h_n − √n·h_{n−1}.
WIDELIMIT_BOTH inline double hermite(Index degree, double x) {
  double previous = 0;
  double current = 1;
  for (Index n = 0; n < degree; ++n) {
    const auto order = static_cast<double>(n);
    const double next = (x * current - sqrt(order) * previous) / sqrt(order + 1);
    previous = current;
    current = next;
  }
  return current;
}

}  // namespace scalar

/// φ(x), by the same formulas as the host.                                    [widelimit/network/activation.cpp]
WIDELIMIT_BOTH inline double evaluate(const ScalarFunction& f, double x) {
  switch (f.phi) {
    case Phi::relu:
      return x > 0 ? x : 0;
    case Phi::leaky_relu:
      return x >= 0 ? x : f.slope * x;
    case Phi::abs:
      return fabs(x);
    case Phi::erf:
      return erf(x);
    case Phi::gelu:
      return x * (erfc(-x / scalar::sqrt2) / 2);
    case Phi::sin:
      return sin(x);
    case Phi::cos:
      return cos(x);
    case Phi::sign:
      return static_cast<double>((x > 0) - (x < 0));
    case Phi::exp:
      return exp(x);
    case Phi::gaussian:
      return exp(-x * x);
    case Phi::rbf:
      return scalar::sqrt2 * sin(sqrt(2 * f.gamma) * x + scalar::pi / 4);
    case Phi::monomial:
      return scalar::power(x, f.degree);
    case Phi::rectified_monomial:
      return x >= 0 ? scalar::power(x, f.degree) : 0;
    case Phi::hermite:
      return scalar::hermite(f.degree, x);
    case Phi::polynomial: {
      double sum = 0;
      for (int i = f.coefficients; i-- > 0;) sum = sum * x + f.coef.data()[i];
      return sum;
    }
    case Phi::identity:
      return x;
    case Phi::tanh:
      return tanh(x);
    case Phi::sigmoid:
      return scalar::logistic(x);
    case Phi::swish:
      return x * scalar::logistic(x);
    case Phi::softplus:
      return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    case Phi::custom:
      break;  // called by the host
  }
  return 0;
}

/// φ'(x).
WIDELIMIT_BOTH inline double derivative(const ScalarFunction& f, double x) {
  const auto monomial_slope = [&] {
    return f.degree == 0 ? 0.0 : static_cast<double>(f.degree) * scalar::power(x, f.degree - 1);
  };
  switch (f.phi) {
    case Phi::relu:
      return x >= 0 ? 1 : 0;
    case Phi::leaky_relu:
      return x >= 0 ? 1 : f.slope;
    case Phi::abs:
      return x >= 0 ? 1 : -1;
    case Phi::erf:
      return 2 * scalar::inv_sqrtpi * exp(-x * x);
    case Phi::gelu:
      return erfc(-x / scalar::sqrt2) / 2 + x * exp(-x * x / 2) / sqrt(2 * scalar::pi);
    case Phi::sin:
      return cos(x);
    case Phi::cos:
      return -sin(x);
    case Phi::sign:
      return 0;
    case Phi::exp:
      return exp(x);
    case Phi::gaussian:
      return -2 * x * exp(-x * x);
    case Phi::rbf:
      return 2 * sqrt(f.gamma) * cos(sqrt(2 * f.gamma) * x + scalar::pi / 4);
    case Phi::monomial:
      return monomial_slope();
    case Phi::rectified_monomial:
      return x >= 0 ? monomial_slope() : 0;
    case Phi::hermite:
      return f.degree == 0 ? 0 : sqrt(static_cast<double>(f.degree)) * scalar::hermite(f.degree - 1, x);
    case Phi::polynomial: {
      double sum = 0;
      for (int i = f.coefficients; i-- > 1;) sum = sum * x + i * f.coef.data()[i];
      return sum;
    }
    case Phi::identity:
      return 1;
    case Phi::tanh: {
      const double hyperbolic = cosh(x);
      return 1 / hyperbolic / hyperbolic;
    }
    case Phi::sigmoid:
      return scalar::logistic_slope(x);
    case Phi::swish:
      return scalar::logistic(x) + x * scalar::logistic_slope(x);
    case Phi::softplus:
      return scalar::logistic(x);
    case Phi::custom:
      break;
  }
  return 0;
}

}  // namespace widelimit
