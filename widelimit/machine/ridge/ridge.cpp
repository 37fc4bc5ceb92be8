#include "widelimit/machine/ridge/ridge.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/ridge/ridge_proof.hpp"
#include "widelimit/machine/ridge/ridge_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// Suggests a λ. K + λ/2·W⁻¹ needs a λ larger by the factor of the largest weight.
std::string suggestion_of(const GramMatrix& k, Index minor, std::span<const double> weights, Progress* progress) {
  const Indefinite found = diagnose(k, minor, progress);
  const double heaviest = weights.empty() ? 1.0 : *std::max_element(weights.begin(), weights.end());
  if (heaviest <= 1) return found.message;
  return fmt::format("{} for weights of 1, {:.2g} for these", found.message, heaviest * found.lambda);
}

void remark_on_condition(Summary& summary) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  if (*summary.condition * epsilon < 1e-2) return;
  summary.message = fmt::format(
      "the condition number is about {:.1e}: the coefficients have no accurate digit, though predictions may be good; "
      "a larger lambda makes both accurate",
      *summary.condition);
}

/// Remark on a matrix of a kernel that may be indefinite if an eigenvalue is near 0; else empty. There, a small change
/// of the kernel changes the sign of the eigenvalue, and solutions are erratic long before digits are lost.
std::string near_zero_remark(double condition) {
  if (condition < 1e6) return {};
  return fmt::format(
      "an eigenvalue is near 0 (condition number about {:.1e}): decisions are sensitive to small changes of the "
      "samples",
      condition);
}

/// Remark on a fit with a matrix that is not positive definite.
struct IndefiniteRemark {
  Inertia inertia;
  double condition = 0;

  [[nodiscard]] std::string text() const {
    std::string words = fmt::format(
        "the kernel plus lambda/2 is indefinite, {} positive and {} negative eigenvalues: the coefficients solve the "
        "linear system of the machine, but need not minimise its objective",
        inertia.positive, inertia.negative);
    const std::string near_zero = near_zero_remark(condition);
    return near_zero.empty() ? words : words + "; " + near_zero;
  }
};

/// Returns √Σ(y − Kα − b − λα/2w)² relative to the norm of y; 0 for an exact solution.
double relative_residual(const RidgeMatrix& a, MatrixView<const double> targets, const Fit& fit) {
  const Index n = targets.rows;
  Matrix<double> g(n, targets.cols, Content::unset);
  a.k.multiply(fit.alpha.view(), g.view());
  double squares = 0;
  double all = 0;
  for (Index i = 0; i < n; ++i) {
    const double w = a.scale_of(i) * a.scale_of(i);
    for (Index j = 0; w > 0 && j < targets.cols; ++j) {
      const double rest = targets(i, j) - g(i, j) - fit.bias[usize(j)] - a.shift * fit.alpha(i, j) / w;
      squares += w * rest * rest;
      all += w * targets(i, j) * targets(i, j);
    }
  }
  return all > 0 ? std::sqrt(squares / all) : std::sqrt(squares);
}

/// Solves by LDLᵀ with one refinement step. Returns false if the matrix is singular up to rounding.
bool solve_indefinite(const RidgeMatrix& a, MatrixView<const double> targets, const RidgeOptions& options, Fit& fit) {
  const Algebra& algebra = a.k.algebra();
  const Index n = a.k.samples();
  require_matrix_memory(a.k.engine(), sizeof(double) * static_cast<double>(n) * static_cast<double>(n), std::nullopt,
                        "a factor of an indefinite matrix", "clip or shift negative eigenvalues");
  EngineMatrix copy = algebra.allocate(n, n, Precision::f64);
  const double norm = a.write(copy, options.progress);
  const std::unique_ptr<IndefiniteFactor> factor = algebra.indefinite_factor(std::move(copy), options.progress);
  const Inertia inertia = factor->inertia();
  if (inertia.zero > 0) return false;
  const double condition = Algebra::condition(*factor, norm);
  if (!(condition * std::numeric_limits<double>::epsilon() < 1)) return false;
  const Matrix<double> b = right_hand_sides(targets, a.scale, options.bias);
  Matrix<double> x = b.copy();
  factor->solve(x.view());
  Matrix<double> rest(b.rows(), b.cols(), Content::unset);
  a.residual(x.view(), b.view(), rest.view());
  factor->solve(rest.view());
  for (Index k = 0; k < x.rows() * x.cols(); ++k) x.data()[k] += rest.data()[k];
  set_coefficients(x, a.scale, options.bias, fit);
  fit.summary.iterations = 1;
  fit.summary.condition = condition;
  fit.summary.memory += sizeof(double) * usize(n * n);
  fit.summary.method = "LDL^T, float64, refined once";
  fit.summary.message = IndefiniteRemark{inertia, condition}.text();
  return true;
}

/// Handles a K that may be indefinite although K + λ/2·I has a Cholesky factor: the duality gap is then not valid.
void remark_on_kernel(const GramMatrix& k, Fit& fit, Progress* progress) {
  if (fit.summary.message.empty()) fit.summary.message = near_zero_remark(*fit.summary.condition);
  if (is_semidefinite(k, progress)) return;
  const Inertia inertia = k.algebra().inertia(k.matrix());
  fit.summary.dual.reset();
  fit.summary.gap.reset();
  const std::string before = fit.summary.message;
  fit.summary.message = fmt::format(
      "the kernel is indefinite, {} positive and {} negative eigenvalues, and positive definite with lambda/2: the "
      "coefficients solve the linear system of the machine, but do not minimise its objective{}{}",
      inertia.positive, inertia.negative, before.empty() ? "" : "; ", before);
}

}  // namespace

void RidgeOptions::validate() const {
  if (!std::isfinite(lambda) || lambda < 0)
    fail(Code::input, "lambda is {}; it must be finite and not negative", lambda);
}

Fit fit_ridge(const GramMatrix& k, MatrixView<const double> targets, const RidgeOptions& options) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  (void)k.check();
  const Index n = k.samples();
  check_targets(targets, n);
  check_weights(options.weights, n);

  Fit fit = zero_fit(n, targets.cols);
  const std::vector<double> scale = scale_of_weights(options.weights, options.lambda);
  const RidgeMatrix a{k, scale, options.lambda / 2};
  Cholesky cholesky(a, options.factor, options.progress);
  if (cholesky.failed_minor() == 0) {
    Matrix<double> solved = right_hand_sides(targets, scale, options.bias);
    fit.summary.iterations = cholesky.solve(solved.view());
    if (cholesky.failed_minor() == 0) set_coefficients(solved, scale, options.bias, fit);
  }
  fit.summary.method = cholesky.method();
  fit.summary.memory = cholesky.bytes() + 3 * sizeof(double) * static_cast<std::size_t>(n * (targets.cols + 1));
  const bool indefinite =
      cholesky.failed_minor() != 0 && options.indefinite && solve_indefinite(a, targets, options, fit);
  if (cholesky.failed_minor() != 0 && !indefinite) {
    fit.summary.ending = Ending::not_positive_definite;
    fit.summary.message = suggestion_of(k, cholesky.failed_minor(), options.weights, options.progress);
  } else if (!all_finite(fit)) {
    std::fill_n(fit.alpha.data(), n * targets.cols, 0.0);
    std::fill(fit.bias.begin(), fit.bias.end(), 0.0);
    fit.summary.ending = Ending::not_positive_definite;
    fit.summary.message = "the coefficients exceed the range of float64; scale the kernel or give a larger lambda";
  } else if (indefinite) {
    fit.summary.gradient = relative_residual(a, targets, fit);
  } else {
    fit.summary.condition = cholesky.condition();
    remark_on_condition(fit.summary);
    prove_ridge(k, {targets, options.lambda, options.bias, options.weights}, fit, options.progress);
    if (options.indefinite) remark_on_kernel(k, fit, options.progress);
  }
  fit.summary.seconds = seconds_since(start);
  return fit;
}

Fit fit_regression(const GramMatrix& k, MatrixView<const double> targets, RidgeOptions options) {
  options.lambda = 0;
  return fit_ridge(k, targets, options);
}

}  // namespace widelimit
