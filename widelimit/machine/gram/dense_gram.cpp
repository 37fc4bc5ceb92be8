#include "widelimit/machine/gram/dense_gram.hpp"

#include "widelimit/engine/cpu/algebra/condition.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"
#include "widelimit/machine/gram/check_gram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

DenseGram::DenseGram(const AnyView& k, int threads)
    : source_(k),
      epsilon_(std::holds_alternative<MatrixView<const float>>(k) ? std::numeric_limits<float>::epsilon()
                                                                  : std::numeric_limits<double>::epsilon()) {
  check_gram(k, threads);
  if (const auto* own = std::get_if<MatrixView<const double>>(&k)) {
    view_ = *own;
    return;
  }
  const auto& view = std::get<MatrixView<const float>>(k);
  copy_ = Matrix<double>(view.rows, view.cols, Content::unset);
  for (Index i = 0; i < view.rows; ++i) std::copy_n(view.row(i), view.cols, copy_.view().row(i));
  view_ = copy_.view();
}

double DenseGram::mean_diagonal() const {
  double sum = 0;
  for (Index i = 0; i < count(); ++i) sum += view_(i, i) / static_cast<double>(count());
  return sum;
}

void DenseGram::multiply(const double* factors, double* product, Index columns) const {
  const MatrixView<const double> v{factors, count(), columns, columns};
  cpu::tiled_product<double>(1, Transpose::no, view_, Transpose::no, v, 0, {product, count(), columns, columns});
}

std::size_t DenseGram::memory() const { return sizeof(double) * static_cast<std::size_t>(copy_.rows() * copy_.cols()); }

bool ShiftedFactor::factorise(const DenseGram& k, const double* s, double mu, Progress* progress) {
  const double scale = 1 / std::sqrt(mu);
  for (Index i = 0; i < k.count(); ++i) {
    const double* from = k.row(i);
    double* to = factor_.view().row(i);
    const double left = s[i] * scale;
    for (Index j = i; j < k.count(); ++j) to[j] = left * (s[j] * scale) * from[j];
    to[i] += 1;
    if (!std::isfinite(to[i])) return false;
  }
  norm_ = symmetric_norm(factor_.view());
  return factorise_symmetric(factor_.view(), progress);
}

double ShiftedFactor::condition() { return cpu::condition_of<double>(factor_.view(), norm_); }

void ShiftedFactor::solve(double* x, Index columns) const { solve_symmetric(factor_.view(), x, columns); }

bool factorise_symmetric(MatrixView<double> m, Progress* progress) {
  return cpu::tiled_cholesky<double>(m, progress) == 0;
}

double symmetric_norm(MatrixView<const double> m) {
  std::vector<double> sums(static_cast<std::size_t>(m.rows));
  for (Index i = 0; i < m.rows; ++i) {
    double own = 0;
    for (Index j = i; j < m.cols; ++j) {
      const double size = std::abs(m(i, j));
      own += size;
      if (j > i) sums[static_cast<std::size_t>(j)] += size;
    }
    sums[static_cast<std::size_t>(i)] += own;
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

void solve_symmetric(MatrixView<const double> m, double* x, Index columns) { cpu::potrs(m, x, columns); }

}  // namespace widelimit
