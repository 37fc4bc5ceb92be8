#include "widelimit/machine/factor/ridge_matrix.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/product.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace widelimit {

namespace {

constexpr Index fill_rows = 64;
/// What a sample of scale 0 gets on the diagonal: as large as the others, so that it does not spoil the condition.
double idle_diagonal(const RidgeMatrix& a) {
  double largest = 0;
  std::visit(
      [&](const auto& k) {
        for (Index i = 0; i < k.rows; ++i) {
          const double s = a.scale_of(i);
          largest = std::max(largest, s * s * static_cast<double>(k(i, i)));
        }
      },
      a.k);
  return largest + a.shift > 0 ? largest + a.shift : 1.0;
}

}  // namespace

void RidgeMatrix::residual(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> out) const {
  if (scale.empty()) {
    multiply(k, x, out);
  } else {
    Matrix<double> scaled(x.rows, x.cols, Content::unset);
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.cols; ++j) scaled(i, j) = scale_of(i) * x(i, j);
    }
    multiply(k, scaled.view(), out);
  }
  for (Index i = 0; i < x.rows; ++i) {
    const double s = scale_of(i);
    for (Index j = 0; j < x.cols; ++j) out(i, j) = s == 0 ? 0.0 : b(i, j) - s * out(i, j) - shift * x(i, j);
  }
}

template <std::floating_point T>
double fill_upper(const RidgeMatrix& a, MatrixView<T> out, int threads, Progress* progress) {
  const Index n = out.rows;
  const double idle = idle_diagonal(a);
  std::vector<double> sums(static_cast<std::size_t>(n));
  const auto fill_row = [&](const auto& k, Index i) {
    const double si = a.scale_of(i);
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(si * a.scale_of(j) * static_cast<double>(k(i, j)));
    for (Index j = i; j < n; ++j) out(i, j) = static_cast<T>(si * a.scale_of(j) * static_cast<double>(k(i, j)));
    const double diagonal = si == 0 ? idle : si * si * static_cast<double>(k(i, i)) + a.shift;
    out(i, i) = static_cast<T>(diagonal);
    sums[static_cast<std::size_t>(i)] = si == 0 ? idle : sum + std::abs(a.shift);
  };
  Pulse pulse(progress, n, "rows");
  std::visit(
      [&](const auto& k) {
        const auto fill = [&](Index strip) {
          const Index end = std::min(n, (strip + 1) * fill_rows);
          for (Index i = strip * fill_rows; i < end; ++i) fill_row(k, i);
        };
        parallel_for((n + fill_rows - 1) / fill_rows, threads, fill, [&](Index) { pulse.at(0); });
      },
      a.k);
  return *std::max_element(sums.begin(), sums.end());
}

template double fill_upper(const RidgeMatrix&, MatrixView<float>, int, Progress*);
template double fill_upper(const RidgeMatrix&, MatrixView<double>, int, Progress*);
}  // namespace widelimit
