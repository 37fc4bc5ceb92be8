#include "widelimit/machine/logistic/softmax_newton.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

std::span<const double> entries(const Matrix<double>& m) { return {m.data(), usize(m.rows() * m.cols())}; }

double dot(const Matrix<double>& a, const Matrix<double>& b) { return host::dot(entries(a), entries(b)); }

/// Computes a += t·b.
void add(Matrix<double>& a, double t, const Matrix<double>& b) {
  host::axpy(t, entries(b), {a.data(), usize(a.rows() * a.cols())});
}

/// Returns v̄ in the order of the samples.
std::vector<double> mean_curvature(const SoftmaxLosses& losses, const Matrix<double>& pi) {
  std::vector<double> sum(usize(losses.samples()));
  for (Index c = 0; c < losses.classes(); ++c) {
    const std::vector<double> of_class = losses.curvature(pi, c, c);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_class[i] / static_cast<double>(losses.classes());
  }
  return sum;
}

/// Returns the upper triangle of the Hessian, unknowns ordered by class, then feature, with blocks Xᵀdiag(v)X for
/// classes c ≤ d. A bias common to all classes is in its null space and not regularised; a penalty is added to make it
/// nonsingular, which does not change the solution, since ρ has no such component.
Matrix<double> hessian(const SoftmaxFeatures& features, const SoftmaxLosses& losses, const Matrix<double>& pi,
                       double lambda) {
  const Algebra& algebra = features.factor().algebra();
  const Index m = features.count();
  const Index k = losses.classes();
  const EngineMatrix x = features.rows();
  EngineMatrix block = algebra.allocate(m, m, Precision::f64);
  Matrix<double> a(m * k, m * k);
  for (Index c = 0; c < k; ++c) {
    for (Index d = c; d < k; ++d) {
      algebra.inner_product(x, features.factor().ordered(losses.curvature(pi, c, d)), true, block);
      algebra.read(block, a.view().block(c * m, d * m, m, m));
    }
  }
  for (Index c = 0; c < k; ++c) {
    for (Index j = 0; j < m; ++j) a(c * m + j, c * m + j) += features.penalty(j, lambda);
  }
  if (features.has_bias()) {
    double pinned = 0;
    for (Index c = 0; c < k; ++c) pinned = std::max(pinned, a(c * m + m - 1, c * m + m - 1));
    for (Index c = 0; c < k; ++c) {
      for (Index d = c; d < k; ++d) a(c * m + m - 1, d * m + m - 1) += pinned;
    }
  }
  return a;
}

/// Computes a step by Cholesky; returns false if even a strongly damped Hessian cannot be factorised.
bool direct_step(const SoftmaxFeatures& features, const SoftmaxLosses& losses, const Matrix<double>& pi,
                 const Matrix<double>& rho, double lambda, Progress* progress, SoftmaxStep& step) {
  const Algebra& algebra = features.factor().algebra();
  const Index m = features.count();
  const Index k = losses.classes();
  for (double damped = lambda; std::isfinite(damped) && damped <= lambda * 1e20; damped *= 100) {
    EngineMatrix a = algebra.copy_of(hessian(features, losses, pi, damped).view());
    const double norm = algebra.symmetric_norm(a);
    if (algebra.cholesky(a, progress) != 0) continue;
    step.condition = algebra.condition(a, norm);
    Matrix<double> solved(m * k, 1, Content::unset);
    for (Index j = 0; j < m; ++j) {
      for (Index c = 0; c < k; ++c) solved(c * m + j, 0) = rho(j, c);
    }
    algebra.solve_factored(a, solved.view());
    for (Index j = 0; j < m; ++j) {
      for (Index c = 0; c < k; ++c) step.move(j, c) = solved(c * m + j, 0);
    }
    return true;
  }
  return false;
}

/// Eigenvalues of the tridiagonal (Lanczos) matrix of conjugate gradients: 1/tₖ + βₖ₋₁/tₖ₋₁ on the diagonal, √βₖ/tₖ off
/// it (Saad 2003, §6.7.3).
class RitzValues {
 public:
  void add(double t, double beta) {
    diagonal_.push_back(1 / t + carried_);
    beside_.push_back(std::sqrt(beta) / t);
    carried_ = beta / t;
  }
  [[nodiscard]] double condition() const {
    if (diagonal_.empty()) return 1;
    std::vector<double> values = diagonal_;
    std::vector<double> next = beside_;
    const bool found = host::tridiagonal_eigenvalues(values, next);
    return found && values.front() > 0 ? values.back() / values.front() : std::numeric_limits<double>::infinity();
  }

 private:
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  double carried_ = 0;
};

}  // namespace

EngineMatrix SoftmaxFeatures::rows() const {
  if (!has_bias()) return factor_.rows();
  const Algebra& algebra = factor_.algebra();
  EngineMatrix x = algebra.allocate(factor_.count(), count(), Precision::f64);
  EngineMatrix features = x.block(0, 0, factor_.count(), factor_.rank());
  algebra.copy(factor_.rows(), features);
  Matrix<double> last(factor_.count(), 1, Content::unset);
  std::fill_n(last.data(), last.rows(), kappa_);
  EngineMatrix column = x.block(0, factor_.rank(), factor_.count(), 1);
  algebra.write(last.view(), column);
  return x;
}

Matrix<double> SoftmaxFeatures::values(const Matrix<double>& coordinates) const {
  Matrix<double> h(factor_.count(), coordinates.cols());
  factor_.values(coordinates.data(), h.data(), h.cols());
  if (!has_bias()) return h;
  for (Index i = 0; i < h.rows(); ++i) {
    for (Index c = 0; c < h.cols(); ++c) h(i, c) += kappa_ * coordinates(factor_.rank(), c);
  }
  return h;
}

Matrix<double> SoftmaxFeatures::pull(const Matrix<double>& r) const {
  Matrix<double> result(count(), r.cols());
  factor_.pull(r.data(), result.data(), r.cols());
  if (!has_bias()) return result;
  for (Index i = 0; i < r.rows(); ++i) {
    for (Index c = 0; c < r.cols(); ++c) result(factor_.rank(), c) += kappa_ * r(i, c);
  }
  return result;
}

double SoftmaxFeatures::product(const Matrix<double>& a, const Matrix<double>& b) const {
  const std::size_t size = usize(factor_.rank() * a.cols());
  return host::dot({a.data(), size}, {b.data(), size});
}

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
  Matrix<double> z = r.copy();
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

Index SoftmaxPreconditioner::iterations_per_factorisation(const SoftmaxFeatures& features, Index classes) {
  const Index n = features.factor().count();
  const Index m = features.count();
  return m == 0 ? 0 : (n * m * m + m * m * m / 3) / (4 * n * m * classes);
}

SoftmaxStep softmax_step(const SoftmaxFeatures& features, const SoftmaxLosses& losses, const Matrix<double>& pi,
                         const Matrix<double>& rho, const SoftmaxStepOptions& options) {
  const auto& [lambda, accuracy, max_iterations, factored, progress] = options;
  SoftmaxStep step{Matrix<double>(rho.rows(), rho.cols()), 0};
  if (rho.rows() * rho.cols() <= direct_size && direct_step(features, losses, pi, rho, lambda, progress, step)) {
    return step;
  }
  ProgressTicker ticker(progress, max_iterations, "steps");
  RitzValues ritz;
  const SoftmaxPreconditioner preconditioner(features, losses, pi, lambda, factored, progress);
  Matrix<double> residual = rho.copy();
  Matrix<double> z = preconditioner.apply(residual);
  Matrix<double> p = z.copy();
  double rz = dot(residual, z);
  const double enough = accuracy * accuracy * rz;
  while (step.iterations < max_iterations && rz > enough) {
    Matrix<double> v = features.values(p);
    losses.curve(pi, v);
    Matrix<double> ap = features.pull(v);
    for (Index j = 0; j < p.rows(); ++j) {
      for (Index c = 0; c < p.cols(); ++c) ap(j, c) += features.penalty(j, lambda) * p(j, c);
    }
    const double curvature = dot(p, ap);
    if (!(curvature > 0)) break;
    const double t = rz / curvature;
    ticker.at(step.iterations);
    add(step.move, t, p);
    add(residual, -t, ap);
    z = preconditioner.apply(residual);
    const double before = rz;
    rz = dot(residual, z);
    ritz.add(t, rz / before);
    add(z, rz / before, p);
    std::swap(p, z);
    ++step.iterations;
  }
  if (step.iterations == 0) step.move = std::move(p);
  step.condition = ritz.condition();
  return step;
}

}  // namespace widelimit
