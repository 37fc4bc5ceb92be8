#include "widelimit/machine/logistic/softmax_preconditioner.hpp"

#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// v̄ in the order of the pivots.
std::vector<double> mean_curvature(const SoftmaxFeatures& features, const SoftmaxLosses& losses,
                                   const Matrix<double>& pi) {
  std::vector<double> sum(static_cast<std::size_t>(losses.samples()));
  for (Index c = 0; c < losses.classes(); ++c) {
    const std::vector<double> of_class = losses.curvature(pi, c, c);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_class[i] / static_cast<double>(losses.classes());
  }
  std::vector<double> sorted;
  for (const Index i : features.factor().order()) sorted.push_back(sum[static_cast<std::size_t>(i)]);
  return sorted;
}

/// √v̄·X.
Matrix<double> weighed_rows(const SoftmaxFeatures& features, const std::vector<double>& curvature) {
  Matrix<double> x = features.rows();
  for (Index i = 0; i < x.rows(); ++i) {
    const double root = std::sqrt(curvature[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < x.cols(); ++j) x(i, j) *= root;
  }
  return x;
}

}  // namespace

SoftmaxPreconditioner::SoftmaxPreconditioner(const SoftmaxFeatures& features, const SoftmaxLosses& losses,
                                             const Matrix<double>& pi, double lambda, bool factored, Progress* progress)
    : diagonal_(static_cast<std::size_t>(features.count())) {
  const std::vector<double> curvature = mean_curvature(features, losses, pi);
  const MatrixView<const double> l = features.factor().rows();
  for (Index j = 0; j < features.count(); ++j) diagonal_[static_cast<std::size_t>(j)] = features.penalty(j, lambda);
  for (Index i = 0; i < l.rows; ++i) {
    const double v = curvature[static_cast<std::size_t>(i)];
    const double* row = l.row(i);
    for (Index j = 0; j < l.cols; ++j) diagonal_[static_cast<std::size_t>(j)] += v * row[j] * row[j];
    if (features.has_bias()) diagonal_.back() += v * features.kappa() * features.kappa();
  }
  if (!factored) return;
  const Matrix<double> x = weighed_rows(features, curvature);
  const Index m = features.count();
  Matrix<double> p(m, m, Content::unset);
  cpu::tiled_self_product<double>(1, x.view(), 0, p.view());
  for (Index j = 0; j < m; ++j) p(j, j) += features.penalty(j, lambda);
  if (cpu::tiled_cholesky<double>(p.view(), progress) == 0) factor_ = std::move(p);
}

Matrix<double> SoftmaxPreconditioner::apply(const Matrix<double>& r) const {
  Matrix<double> z(r.rows(), r.cols(), Content::unset);
  std::copy_n(r.data(), r.rows() * r.cols(), z.data());
  if (factor_.rows() > 0) {
    cpu::tiled_solve<double>(factor_.view(), Transpose::yes, z.view());
    cpu::tiled_solve<double>(factor_.view(), Transpose::no, z.view());
    return z;
  }
  for (Index j = 0; j < z.rows(); ++j) {
    const double by = diagonal_[static_cast<std::size_t>(j)];
    for (Index c = 0; by > 0 && c < z.cols(); ++c) z(j, c) /= by;
  }
  return z;
}

Index SoftmaxPreconditioner::iterations_worth(const SoftmaxFeatures& features, Index classes) {
  const Index n = features.factor().count();
  const Index m = features.count();
  return m == 0 ? 0 : (n * m * m + m * m * m / 3) / (4 * n * m * classes);
}

}  // namespace widelimit
