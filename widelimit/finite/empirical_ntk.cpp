#include "widelimit/finite/empirical_ntk.hpp"

#include "widelimit/finite/affine.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Adds one slot's part to row i, columns `first`… of the kernel.
void add_row(const WeightSlot& slot, const GradientFactors& g1, const GradientFactors& g2, Index i, Index first,
             double* row) {
  const Index positions = g1.d.shape().positions();
  const Index others = (g2.d.count() - first) * positions;
  const auto inner = [&](const Tensor& left, const Tensor& right) {
    std::vector<double> products(static_cast<std::size_t>(positions * others));
    multiply({.m = positions, .n = others, .k = left.shape().channels, .transpose_b = true}, left.sample(i),
             right.sample(first), products.data());
    return products;
  };
  const std::vector<double> a = inner(g1.a, g2.a);
  const std::vector<double> d = inner(g1.d, g2.d);
  const double w_square = slot.w_scale * slot.w_scale;
  const double b_square = slot.b_std * slot.b_std;
  for (Index p = 0; p < positions; ++p) {
    for (Index q = 0; q < others; ++q) {
      const auto at = static_cast<std::size_t>(p * others + q);
      row[first + q / positions] += (w_square * a[at] + b_square) * d[at];
    }
  }
}

Matrix<double> contract(const Architecture& architecture, const Gradient& g1, const Gradient& g2) {
  const bool symmetric = &g1 == &g2;
  Matrix<double> kernel(g1.input.count(), g2.input.count());
  std::fill_n(kernel.data(), kernel.rows() * kernel.cols(), 0.0);
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    for (Index i = 0; i < kernel.rows(); ++i) {
      add_row(architecture.slots[l], g1.slots[l], g2.slots[l], i, symmetric ? i : 0, kernel.data() + i * kernel.cols());
    }
  }
  for (Index i = 0; symmetric && i < kernel.rows(); ++i) {
    for (Index j = 0; j < i; ++j) kernel(i, j) = kernel(j, i);
  }
  return kernel;
}

Gradient gradient_of_first_output(const Architecture& architecture, const Parameters& parameters, const Tensor& x) {
  const Trace trace = forward(architecture, parameters, x);
  Tensor signal(x.count(), architecture.output);
  for (Index i = 0; i < x.count(); ++i) signal.sample(i)[0] = 1.0;
  return backward(architecture, parameters, trace, std::move(signal));
}

}  // namespace

Matrix<double> empirical_ntk(const Architecture& architecture, const Gradient& g1, const Gradient& g2) {
  return contract(architecture, g1, g2);
}

Matrix<double> empirical_ntk(const Architecture& architecture, const Gradient& g) {
  return contract(architecture, g, g);
}

Matrix<double> empirical_ntk(const Architecture& architecture, const Parameters& parameters, const Tensor& x1,
                             const Tensor& x2) {
  const Gradient g1 = gradient_of_first_output(architecture, parameters, x1);
  if (&x1 == &x2) return empirical_ntk(architecture, g1);
  return empirical_ntk(architecture, g1, gradient_of_first_output(architecture, parameters, x2));
}

}  // namespace widelimit
