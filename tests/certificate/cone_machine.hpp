#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/chain/chain.hpp"

#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace widelimit::test {

/// Returns a machine with the given support rows for a network on vectors.
inline Model machine_of(const std::string& network, const Matrix<double>& support, const Matrix<double>& alpha,
                        Scheme scheme, Index classes, std::vector<double> bias = {}) {
  Model model;
  model.kernel = Network::parse(network);
  model.shape = {1, 1, support.cols()};
  model.machine = scheme == Scheme::values ? Machine::ridge : Machine::svm;
  model.scheme = scheme;
  for (Index c = 0; c < classes; ++c) model.classes.push_back(std::to_string(c));
  model.support = support.copy();
  model.alpha = alpha.copy();
  model.bias = bias.empty() ? std::vector<double>(static_cast<std::size_t>(alpha.cols()), 0.0) : std::move(bias);
  return model;
}

/// The NTK of fc:depth with weights of standard deviation 1, in long double from the formulas.
inline long double exact_ntk(int depth, const double* x, const double* y, Index size) {
  const long double pi = std::numbers::pi_v<long double>;
  long double n = 0, m = 0, p = 0;
  for (Index j = 0; j < size; ++j) {
    n += static_cast<long double>(x[j]) * x[j];
    m += static_cast<long double>(y[j]) * y[j];
    p += static_cast<long double>(x[j]) * y[j];
  }
  const long double length = std::sqrt(n) * std::sqrt(m);
  if (length == 0) return 0;
  long double rho = std::fmin(1.0L, std::fmax(-1.0L, p / length)), theta = rho, scale = length / size;
  for (int layer = 0; layer < depth; ++layer) {
    const long double angle = pi - std::acos(rho);
    const long double next = std::fmin(1.0L, (std::sqrt((1 - rho) * (1 + rho)) + angle * rho) / pi);
    theta = theta * angle / pi + next;
    rho = next;
    scale /= 2;
  }
  return scale * theta;
}

/// g_output(x) of a machine on fc:depth.
inline long double exact_output(const Model& model, int depth, const double* x, Index output) {
  const auto& support = std::get<Matrix<double>>(model.support);
  long double sum = model.bias[static_cast<std::size_t>(output)];
  for (Index i = 0; i < support.rows(); ++i) {
    sum += model.alpha(i, output) * exact_ntk(depth, x, support.view().row(i), support.cols());
  }
  return sum;
}

/// The kernel of a chain, in long double from the formulas.
template <typename T>
long double exact_entry(const Chain& chain, Kind kind, const T* x, const double* y) {
  const long double pi = std::numbers::pi_v<long double>;
  long double first = 0, second = 0, sigma = 0, theta = 0;
  for (Index j = 0; j < chain.features; ++j) {
    first += static_cast<long double>(x[j]) * x[j] / chain.features;
    second += static_cast<long double>(y[j]) * y[j] / chain.features;
    sigma += static_cast<long double>(x[j]) * y[j] / chain.features;
  }
  for (const ChainLayer& layer : chain.layers) {
    if (!layer.rectifier) {
      const long double w = static_cast<long double>(layer.w_std) * layer.w_std;
      const long double b = static_cast<long double>(layer.b_std) * layer.b_std;
      first = w * first + b;
      second = w * second + b;
      sigma = w * sigma + b;
      theta = w * theta + (layer.trained ? sigma : 0);
      continue;
    }
    const long double s = layer.slope, half = (1 - s) * (1 - s) / 2, deviation = std::sqrt(first * second);
    const long double rho = deviation > 0 ? std::fmin(1.0L, std::fmax(-1.0L, sigma / deviation)) : 0;
    const long double angle = pi - std::acos(rho);
    sigma = s * sigma + half * deviation * (std::sqrt((1 - rho) * (1 + rho)) + angle * rho) / pi;
    theta *= s + half * angle / pi;
    first *= (1 + s * s) / 2;
    second *= (1 + s * s) / 2;
  }
  return kind == Kind::ntk ? theta : sigma;
}

inline SampleView rows_of(const Matrix<double>& x) { return {x.view(), {1, 1, x.cols()}}; }

}  // namespace widelimit::test
