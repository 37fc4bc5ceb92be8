#include "widelimit/analysis/hierarchy/label_weights.hpp"

#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/machine/gram/indefinite.hpp"

namespace widelimit {

LabelWeights label_weights(const GramMatrix& h, std::span<const double> y, Progress* progress) {
  const Index n = h.samples();
  const Algebra& algebra = h.algebra();
  const Eigenpairs pairs = eigenpairs(h, progress);
  if (pairs.indefinite) fail(Code::numerical, "{}", diagonal_cure(h, progress));
  LabelWeights result;
  std::vector<double> turned(usize(n));
  algebra.multiply(Transpose::no, pairs.vectors, {y.data(), n, 1, 1}, {turned.data(), n, 1, 1});
  const auto learnt = [&](Index i) { return pairs.values[usize(i)] > pairs.noise; };
  Matrix<double> weights(n, n);
  interruptible_rows(n, n, [&](Index i) {
    if (!learnt(i)) {
      ++result.unlearnt;
      return;
    }
    const double d = pairs.values[usize(i)];
    for (Index j = 0; j < n; ++j) {
      if (learnt(j)) weights(i, j) = turned[usize(i)] * turned[usize(j)] / (d * (d + pairs.values[usize(j)]));
    }
  });
  EngineMatrix left = algebra.allocate(n, n, Precision::f64);
  algebra.product(1, Transpose::yes, pairs.vectors, Transpose::no, algebra.copy_of(weights.view()), 0, left);
  EngineMatrix whole = algebra.allocate(n, n, Precision::f64);
  algebra.product(1, Transpose::no, left, Transpose::no, pairs.vectors, 0, whole);
  result.pairs = std::move(weights);
  algebra.read(whole, result.pairs.view());
  for (Index i = 0; i < n; ++i) turned[usize(i)] *= learnt(i) ? 1 / pairs.values[usize(i)] : 0.0;
  result.coefficients.resize(usize(n));
  algebra.multiply(Transpose::yes, pairs.vectors, {turned.data(), n, 1, 1}, {result.coefficients.data(), n, 1, 1});
  return result;
}

}  // namespace widelimit
