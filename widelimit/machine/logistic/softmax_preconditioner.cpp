#include "widelimit/machine/logistic/softmax_preconditioner.hpp"

#include <algorithm>
#include <numeric>

namespace widelimit {

namespace {

/// Returns v̄ in the order of the samples.
std::vector<double> mean_curvature(const SoftmaxLosses& losses, const Matrix<double>& pi) {
  std::vector<double> sum(usize(losses.samples()));
  for (Index c = 0; c < losses.classes(); ++c) {
    const std::vector<double> of_class = losses.curvature(pi, c, c);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_class[i] / static_cast<double>(losses.classes());
  }
  return sum;
}

}  // namespace

SoftmaxPreconditioner::SoftmaxPreconditioner(const SoftmaxFeatures& features, const SoftmaxLosses& losses,
                                             const Matrix<double>& pi, double lambda, bool factored, Progress* progress)
    : algebra_(features.factor().algebra()) {
  const std::vector<double> curvature = features.factor().ordered(mean_curvature(losses, pi));
  std::vector<double> penalties;
  for (Index j = 0; j < features.count(); ++j) penalties.push_back(features.penalty(j, lambda));
  if (factored) {
    EngineMatrix p = algebra_.allocate(features.count(), features.count(), Precision::f64);
    algebra_.inner_product(features.rows(), curvature, false, p);
    algebra_.add_to_diagonal(p, penalties);
    if (algebra_.cholesky(p, progress) == 0) {
      factor_ = std::move(p);
      return;
    }
  }
  diagonal_ = algebra_.column_squares(features.factor().rows(), curvature);
  if (features.has_bias()) {
    const double whole = std::accumulate(curvature.begin(), curvature.end(), 0.0);
    diagonal_.push_back(whole * features.kappa() * features.kappa());
  }
  for (std::size_t j = 0; j < diagonal_.size(); ++j) diagonal_[j] += penalties[j];
}

Matrix<double> SoftmaxPreconditioner::apply(const Matrix<double>& r) const {
  Matrix<double> z(r.rows(), r.cols(), Content::unset);
  std::copy_n(r.data(), r.rows() * r.cols(), z.data());
  if (!factor_.empty()) {
    algebra_.solve_factored(factor_, z.view());
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
