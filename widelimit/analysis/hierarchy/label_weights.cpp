#include "widelimit/analysis/hierarchy/label_weights.hpp"

#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/machine/gram/indefinite.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// Returns −φ'(d) = ∫₀ᵗ s·e^{−sd} ds = (1 − (1 + td)e^{−td})/d², by a series if that cancels.
double decayed_moment(double d, double time) {
  const double z = time * d;
  if (z < 0.05) {  // t² Σ_k (−z)^k/(k!(k + 2)): the first omitted term is below 1e-16
    double sum = 0;
    double term = 1;
    for (int k = 0; k < 9; ++k) {
      sum += term / (k + 2);
      term *= -z / (k + 1);
    }
    return time * time * sum;
  }
  return (1 - (1 + z) * std::exp(-z)) / (d * d);
}

/// Returns ∫₀ᵗ e^{−ua}(1 − e^{−ub})/b du.
double pair_weight(double a, double b, double time) {
  if (std::isinf(time)) return 1 / (a * (a + b));
  // A short difference quotient of φ cancels; the derivative at the midpoint has relative error (tb)²/24.
  if (time * b < 1e-5) return decayed_moment(a + b / 2, time);
  return (decayed_time(a, time) - decayed_time(a + b, time)) / b;
}

}  // namespace

LabelWeights label_weights(const GramMatrix& h, std::span<const double> residual, Progress* progress, double time) {
  const Index n = h.samples();
  const Algebra& algebra = h.algebra();
  const Eigenpairs pairs = eigenpairs(h, progress);
  if (pairs.indefinite) fail(Code::numerical, "{}", diagonal_shift_advice(h, progress));
  LabelWeights result;
  std::vector<double> turned(usize(n));
  algebra.multiply(Transpose::no, pairs.vectors, {residual.data(), n, 1, 1}, {turned.data(), n, 1, 1});
  const std::vector<double>& d = pairs.values;
  for (Index i = 0; i < n; ++i) {
    if (d[usize(i)] > pairs.noise) continue;
    ++result.unlearnt;
    if (std::isinf(time)) turned[usize(i)] = 0;
  }
  Matrix<double> weights(n, n);
  interruptible_rows(n, n, [&](Index i) {
    for (Index j = 0; j < n; ++j) {
      const double both = turned[usize(i)] * turned[usize(j)];
      if (both != 0) weights(i, j) = both * pair_weight(d[usize(i)], d[usize(j)], time);
    }
  });
  EngineMatrix left = algebra.allocate(n, n, Precision::f64);
  algebra.product(1, Transpose::yes, pairs.vectors, Transpose::no, algebra.copy_of(weights.view()), 0, left);
  EngineMatrix whole = algebra.allocate(n, n, Precision::f64);
  algebra.product(1, Transpose::no, left, Transpose::no, pairs.vectors, 0, whole);
  result.pairs = std::move(weights);
  algebra.read(whole, result.pairs.view());
  for (Index i = 0; i < n; ++i) {
    if (turned[usize(i)] != 0) turned[usize(i)] *= decayed_time(d[usize(i)], time);
  }
  result.coefficients.resize(usize(n));
  algebra.multiply(Transpose::yes, pairs.vectors, {turned.data(), n, 1, 1}, {result.coefficients.data(), n, 1, 1});
  return result;
}

}  // namespace widelimit
