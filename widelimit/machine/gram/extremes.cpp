#include "widelimit/machine/gram/extremes.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

constexpr Index lanczos_steps = 100;

}  // namespace

Extremes exact_extremes(const GramMatrix& k, Progress* progress) {
  const std::vector<double> values = k.algebra().eigenvalues(k.algebra().copy_of(k.matrix(), Precision::f64), progress);
  return {values.front(), values.back()};
}

Extremes lanczos_extremes(const GramMatrix& k, Progress* progress) {
  const Index n = k.samples();
  const Index steps = std::min(lanczos_steps, n);
  Matrix<double> basis(steps, n);
  std::vector<double> diagonal;
  std::vector<double> beside;
  std::vector<double> next(usize(n));
  for (Index i = 0; i < n; ++i) basis(0, i) = std::sin(1.0 + 0.7 * static_cast<double>(i));
  const double first_length = host::norm({basis.data(), usize(n)});
  for (Index i = 0; i < n; ++i) basis(0, i) /= first_length;
  std::vector<double> overlap(usize(steps));
  ProgressTicker ticker(progress, steps, "products for the spectrum");
  for (Index step = 0; step < steps; ++step) {
    ticker.at(step);
    const double* q = basis.view().row(step);
    k.multiply(q, next.data());
    diagonal.push_back(host::dot({q, usize(n)}, next));
    const MatrixView<const double> known = basis.view().block(0, 0, step + 1, n);
    for (int pass = 0; pass < 2; ++pass) {
      host::multiply(1, Transpose::no, known, next, 0, overlap);
      host::multiply(-1, Transpose::yes, known, overlap, 1, next);
    }
    const double length = host::norm(next);
    if (step + 1 == steps || length <= std::numeric_limits<double>::epsilon() * std::abs(diagonal.front())) break;
    beside.push_back(length);
    for (Index i = 0; i < n; ++i) basis(step + 1, i) = next[usize(i)] / length;
  }
  beside.push_back(0);
  host::tridiagonal_eigenvalues(diagonal, beside);
  return {diagonal.front(), diagonal.back()};
}

}  // namespace widelimit
