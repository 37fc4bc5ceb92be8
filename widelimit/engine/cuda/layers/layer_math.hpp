#pragma once

#include "widelimit/engine/enclosure/both.hpp"
#include "widelimit/engine/layers.hpp"

#include <cmath>
#include <cstdint>

/// Scalar pieces of the passes of layers, for the device and, in tests, for the host.
namespace widelimit::cuda {

constexpr double pi = 3.14159265358979323846;
constexpr double sqrt2 = 1.41421356237309504880;
constexpr double inv_sqrtpi = 0.56418958354775628695;

WIDELIMIT_BOTH inline double power(double x, int degree) {
  double product = 1;
  for (int i = 0; i < degree; ++i) product *= x;
  return product;
}

/// 1/(1 + e^{−x}) and its slope, without overflow or cancellation.
WIDELIMIT_BOTH inline double logistic(double x) {
  const double e = exp(-fabs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}
WIDELIMIT_BOTH inline double logistic_slope(double x) {
  const double e = exp(-fabs(x));
  return e / ((1 + e) * (1 + e));
}

/// h_n = He_n/√n!, by √(n+1)·h_{n+1} = x·h_n − √n·h_{n−1}.
WIDELIMIT_BOTH inline double hermite(int degree, double x) {
  double previous = 0;
  double current = 1;
  for (int n = 0; n < degree; ++n) {
    const double order = n;
    const double next = (x * current - sqrt(order) * previous) / sqrt(order + 1);
    previous = current;
    current = next;
  }
  return current;
}

/// φ(x), by the formulas of the processor.                                        [widelimit/network/activation.cpp]
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
      return x * (erfc(-x / sqrt2) / 2);
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
      return sqrt2 * sin(sqrt(2 * f.gamma) * x + pi / 4);
    case Phi::monomial:
      return power(x, f.degree);
    case Phi::rectified_monomial:
      return x >= 0 ? power(x, f.degree) : 0;
    case Phi::hermite:
      return hermite(f.degree, x);
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
      return logistic(x);
    case Phi::swish:
      return x * logistic(x);
    case Phi::softplus:
      return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    case Phi::custom:
      break;  // the host calls it
  }
  return 0;
}

/// φ'(x).
WIDELIMIT_BOTH inline double derivative(const ScalarFunction& f, double x) {
  const auto monomial_slope = [&] { return f.degree == 0 ? 0.0 : f.degree * power(x, f.degree - 1); };
  switch (f.phi) {
    case Phi::relu:
      return x >= 0 ? 1 : 0;
    case Phi::leaky_relu:
      return x >= 0 ? 1 : f.slope;
    case Phi::abs:
      return x >= 0 ? 1 : -1;
    case Phi::erf:
      return 2 * inv_sqrtpi * exp(-x * x);
    case Phi::gelu:
      return erfc(-x / sqrt2) / 2 + x * exp(-x * x / 2) / sqrt(2 * pi);
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
      return 2 * sqrt(f.gamma) * cos(sqrt(2 * f.gamma) * x + pi / 4);
    case Phi::monomial:
      return monomial_slope();
    case Phi::rectified_monomial:
      return x >= 0 ? monomial_slope() : 0;
    case Phi::hermite:
      return f.degree == 0 ? 0 : sqrt(static_cast<double>(f.degree)) * hermite(f.degree - 1, x);
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
      return logistic_slope(x);
    case Phi::swish:
      return logistic(x) + x * logistic_slope(x);
    case Phi::softplus:
      return logistic(x);
    case Phi::custom:
      break;
  }
  return 0;
}

/// Random(seed, stream).uniform(index).                                                 [widelimit/base/random.cpp]
WIDELIMIT_BOTH inline double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  std::uint32_t c0 = static_cast<std::uint32_t>(index);
  std::uint32_t c1 = static_cast<std::uint32_t>(index >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(stream);
  std::uint32_t c3 = static_cast<std::uint32_t>(stream >> 32);
  std::uint32_t key_0 = static_cast<std::uint32_t>(seed);
  std::uint32_t key_1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t product_1 = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(product_1 >> 32) ^ c1 ^ key_0;
    c1 = static_cast<std::uint32_t>(product_1);
    c2 = static_cast<std::uint32_t>(product_0 >> 32) ^ c3 ^ key_1;
    c3 = static_cast<std::uint32_t>(product_0);
    key_0 += 0x9E3779B9;
    key_1 += 0xBB67AE85;
  }
  const std::uint64_t bits = (static_cast<std::uint64_t>(c0) << 32) | c1;
  return (static_cast<double>(bits >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

/// The position that output (i, j) of a grid reads at place (r, c), or −1.
WIDELIMIT_BOTH inline int read_at(int output, int place, int n, int stride, int before, bool circular) {
  const int at = output * stride + place - before;
  if (circular) return ((at % n) + n) % n;
  return at >= 0 && at < n ? at : -1;
}
WIDELIMIT_BOTH inline int window_input(const WindowGrid& g, int output, int place) {
  const int row = read_at(output / g.width, place / g.cols, g.in_height, g.row_stride, g.rows_before, g.circular);
  const int col = read_at(output % g.width, place % g.cols, g.in_width, g.col_stride, g.cols_before, g.circular);
  return row < 0 || col < 0 ? -1 : row * g.in_width + col;
}

/// The output that reads a position at a place, or −1: there is at most one, since strides stay within the grid.
WIDELIMIT_BOTH inline int reader_at(int position, int place, int n, int count, int stride, int before, bool circular) {
  int at = position + before - place;
  if (circular) at = ((at % n) + n) % n;
  return at >= 0 && at % stride == 0 && at / stride < count ? at / stride : -1;
}
WIDELIMIT_BOTH inline int window_reader(const WindowGrid& g, int position, int place) {
  const int row =
      reader_at(position / g.in_width, place / g.cols, g.in_height, g.height, g.row_stride, g.rows_before, g.circular);
  const int col =
      reader_at(position % g.in_width, place % g.cols, g.in_width, g.width, g.col_stride, g.cols_before, g.circular);
  return row < 0 || col < 0 ? -1 : row * g.width + col;
}

}  // namespace widelimit::cuda
