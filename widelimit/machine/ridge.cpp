#include "widelimit/machine/ridge.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/check_gram.hpp"
#include "widelimit/machine/indefinite.hpp"
#include "widelimit/machine/lapack.hpp"
#include "widelimit/machine/product.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// √w; at λ = 0 every sample that takes part is met exactly, whatever its weight.
std::vector<double> square_roots(std::span<const double> weights, double lambda) {
  std::vector<double> result(weights.begin(), weights.end());
  for (double& value : result) value = lambda == 0 && value > 0 ? 1.0 : std::sqrt(value);
  return result;
}

/// S y, and behind it S 1 where a bias is wanted.
Matrix<double> right_sides(MatrixView<const double> targets, const RidgeMatrix& a, bool bias) {
  const Index outputs = targets.cols;
  Matrix<double> b(targets.rows, outputs + (bias ? 1 : 0), Content::unset);
  for (Index i = 0; i < targets.rows; ++i) {
    const double s = a.scale_of(i);
    for (Index j = 0; j < outputs; ++j) b(i, j) = s * targets(i, j);
    if (bias) b(i, outputs) = s;
  }
  return b;
}

/// b = 1ᵀSγ₁/1ᵀSγ₂ with Aγ₁ = Sy, Aγ₂ = S1: eliminates the border of [A S1; 1ᵀS 0].
double border(const Matrix<double>& solved, const RidgeMatrix& a, Index output) {
  double above = 0;
  double below = 0;
  for (Index i = 0; i < solved.rows(); ++i) {
    above += a.scale_of(i) * solved(i, output);
    below += a.scale_of(i) * solved(i, solved.cols() - 1);
  }
  return below != 0 ? above / below : 0.0;
}

void set_coefficients(const Matrix<double>& solved, const RidgeMatrix& a, bool bias, Fit& fit) {
  for (Index j = 0; j < fit.alpha.cols(); ++j) {
    const double b = bias ? border(solved, a, j) : 0.0;
    fit.bias[static_cast<std::size_t>(j)] = b;
    for (Index i = 0; i < solved.rows(); ++i) {
      fit.alpha(i, j) = a.scale_of(i) * (solved(i, j) - (bias ? b * solved(i, solved.cols() - 1) : 0.0));
    }
  }
}

bool all_finite(const Fit& fit) {
  const auto finite = [](double value) { return std::isfinite(value); };
  const double* alpha = fit.alpha.data();
  return std::all_of(alpha, alpha + fit.alpha.rows() * fit.alpha.cols(), finite) &&
         std::all_of(fit.bias.begin(), fit.bias.end(), finite);
}

void clear(Fit& fit) {
  std::fill_n(fit.alpha.data(), fit.alpha.rows() * fit.alpha.cols(), 0.0);
  std::fill(fit.bias.begin(), fit.bias.end(), 0.0);
}

/// K + λ/2·W⁻¹ needs a λ as many times larger as the largest weight.
std::string cure(const AnyView& k, Index minor, std::span<const double> weights) {
  const Indefinite found = diagnose(k, minor);
  const double heaviest = weights.empty() ? 1.0 : *std::max_element(weights.begin(), weights.end());
  if (heaviest <= 1) return found.message;
  return fmt::format("{} for weights of 1, {:.2g} for these", found.message, heaviest * found.lambda);
}

void remark_on_condition(Summary& summary) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  if (*summary.condition * epsilon < 1e-2) return;
  summary.message = fmt::format(
      "the condition number is about {:.1e}: coefficients have no digit left; predictions may still be good, a larger "
      "lambda makes both sure",
      *summary.condition);
}

}  // namespace

void RidgeOptions::validate() const {
  if (!std::isfinite(lambda) || lambda < 0)
    fail(Code::input, "lambda is {}; it must be finite and not negative", lambda);
  (void)team_size(threads);
}

Fit fit_ridge(const AnyView& k, MatrixView<const double> targets, const RidgeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  options.validate();
  check_gram(k, options.threads);
  const Index n = samples_of(k);
  check_targets(targets, n);
  check_weights(options.weights, n);

  Fit fit{Matrix<double>(n, targets.cols), std::vector<double>(static_cast<std::size_t>(targets.cols)), {}};
  const std::vector<double> scale = square_roots(options.weights, options.lambda);
  const RidgeMatrix a{k, scale, options.lambda / 2};
  Cholesky cholesky(a, options.factor, options.threads, options.progress);
  if (cholesky.failed_minor() == 0) {
    Matrix<double> solved = right_sides(targets, a, options.bias);
    fit.summary.iterations = cholesky.solve(solved.view());
    if (cholesky.failed_minor() == 0) set_coefficients(solved, a, options.bias, fit);
  }
  fit.summary.method = cholesky.method();
  fit.summary.memory = cholesky.bytes() + 3 * sizeof(double) * static_cast<std::size_t>(n * (targets.cols + 1));
  if (cholesky.failed_minor() != 0) {
    const BlasTeam team(options.threads);
    fit.summary.ending = Ending::not_positive_definite;
    fit.summary.message = cure(k, cholesky.failed_minor(), options.weights);
  } else if (!all_finite(fit)) {
    clear(fit);
    fit.summary.ending = Ending::not_positive_definite;
    fit.summary.message = "the coefficients are beyond the range of float64; scale the kernel or give a larger lambda";
  } else {
    const BlasTeam team(options.threads);
    fit.summary.condition = cholesky.condition();
    remark_on_condition(fit.summary);
    judge_ridge(k, targets, options.lambda, options.weights, fit);
  }
  fit.summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return fit;
}

Fit fit_regression(const AnyView& k, MatrixView<const double> targets, RidgeOptions options) {
  options.lambda = 0;
  return fit_ridge(k, targets, options);
}

void judge_ridge(const AnyView& k, MatrixView<const double> targets, double lambda, std::span<const double> weights,
                 Fit& fit) {
  const Index outputs = targets.cols;
  Matrix<double> g(targets.rows, outputs, Content::unset);
  multiply(k, fit.alpha.view(), g.view());
  double norm = 0;
  double loss = 0;
  double gap = 0;
  double residual = 0;
  double size = 0;
  for (Index j = 0; j < outputs; ++j) {
    const double b = fit.bias[static_cast<std::size_t>(j)];
    double sum = 0;
    for (Index i = 0; i < targets.rows; ++i) {
      const double w = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
      const double alpha = fit.alpha(i, j);
      const double r = targets(i, j) - g(i, j) - b;
      norm += alpha * g(i, j);
      sum += alpha;
      if (w == 0) continue;
      const double missing = r - lambda * alpha / (2 * w);
      loss += w * r * r;
      gap += w * missing * missing;
      residual += w * missing * missing;
      size += w * targets(i, j) * targets(i, j);
    }
    gap -= lambda * b * sum;
  }
  const double primal = lambda / 2 * norm + loss;
  fit.summary.primal = primal;
  fit.summary.gradient = size > 0 ? std::sqrt(residual / size) : 0.0;
  if (lambda == 0) return;
  const double dual = primal - gap;
  const double scale = std::max(std::abs(primal), std::abs(dual));
  fit.summary.dual = dual;
  fit.summary.gap = scale > 0 ? std::max(gap, 0.0) / scale : 0.0;
}

}  // namespace widelimit
