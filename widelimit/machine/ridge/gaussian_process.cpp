#include "widelimit/machine/ridge/gaussian_process.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/ridge/ridge_proof.hpp"
#include "widelimit/machine/ridge/ridge_system.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

/// Test points per triangular solve.
constexpr Index variance_strip = 256;

double log_likelihood(MatrixView<const double> targets, const Matrix<double>& alpha, Index output,
                      double log_determinant) {
  double fit = 0;
  for (Index i = 0; i < targets.rows; ++i) fit += targets(i, output) * alpha(i, output);
  return -0.5 * (fit + log_determinant + static_cast<double>(targets.rows) * std::log(2 * std::numbers::pi));
}

/// Converts a strip of rows of K(test, train) to float64 columns.
void transpose_strip(const AnyView& test_by_train, Index begin, MatrixView<double> out) {
  std::visit(
      [&](const auto& k) {
        constexpr Index band = 64;  // rows whose current columns fit into the L1 cache
        interruptible_rows((out.rows + band - 1) / band, band * out.cols, [&](Index number) {
          const Index first = number * band;
          const Index last = std::min(out.rows, first + band);
          for (Index t = 0; t < out.cols; ++t) {
            for (Index i = first; i < last; ++i) out(i, t) = static_cast<double>(k(begin + t, i));
          }
        });
      },
      test_by_train);
}

/// Returns the number of test points of K(test, train), which must have one column per training sample.
Index checked_tests(const AnyView& test_by_train, Index samples) {
  return std::visit(
      [&](const auto& k) {
        if (k.cols != samples) fail(Code::input, "K(test, train) has {} columns for {} samples", k.cols, samples);
        return k.rows;
      },
      test_by_train);
}

}  // namespace

void GaussianProcessOptions::validate() const {
  if (!std::isfinite(noise) || noise < 0)
    fail(Code::input, "the noise variance is {}; it must be finite and not negative", noise);
}

GaussianProcess::GaussianProcess(const GramMatrix& k, MatrixView<const double> targets,
                                 const GaussianProcessOptions& options)
    : engine_(k.engine()) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  (void)k.check();
  const Index n = k.samples();
  check_targets(targets, n);
  check_squares(targets);
  fit_ = zero_fit(n, targets.cols);
  Summary& summary = fit_.summary;
  // Without noise, the factorisation of K itself is the test.
  if (options.check_definite && options.noise > 0 && !is_semidefinite(k, options.progress)) {
    summary.ending = Ending::not_positive_definite;
    summary.method = "not begun";
    summary.message = diagonal_shift_advice(k, options.progress);
    summary.seconds = seconds_since(start);
    return;
  }
  Cholesky cholesky({k, {}, options.noise}, FactorPrecision::f64, options.progress);
  summary.method = cholesky.method();
  summary.memory = cholesky.bytes();
  if (cholesky.failed_minor() == 0) {
    Matrix<double> solved = right_hand_sides(targets, {}, false);
    summary.iterations = cholesky.solve(solved.view());
    set_coefficients(solved, {}, false, fit_);
    summary.condition = cholesky.condition();
  }
  if (cholesky.failed_minor() != 0 || !all_finite(fit_)) {
    fit_.alpha = Matrix<double>(n, targets.cols);
    summary.ending = Ending::not_positive_definite;
    const Indefinite found = diagnose(k, cholesky.failed_minor(), options.progress);
    summary.message = fmt::format("{}, i.e. a noise variance of half that value", found.message);
  } else {
    prove_ridge(k, {targets, 2 * options.noise}, fit_, options.progress);
    for (Index j = 0; j < targets.cols; ++j) {
      likelihood_.push_back(log_likelihood(targets, fit_.alpha, j, cholesky.log_determinant()));
      if (!std::isfinite(likelihood_.back())) fail(Code::numerical, "{}", likelihood_overflow);
    }
    factor_ = cholesky.factor();
  }
  summary.seconds = seconds_since(start);
}

std::vector<double> posterior_variance(const EngineMatrix& factor, const Engine& engine, const AnyView& test_by_train,
                                       std::span<const double> test_diagonal) {
  const Index n = factor.rows();
  const Index tests = checked_tests(test_by_train, n);
  if (static_cast<Index>(test_diagonal.size()) != tests) {
    fail(Code::input, "K(test, train) has {} rows, but there are {} values K(x, x)", tests, test_diagonal.size());
  }
  for (std::size_t t = 0; t < test_diagonal.size(); ++t) {
    if (!std::isfinite(test_diagonal[t]) || test_diagonal[t] < 0) {
      fail(Code::input, "K(x, x) of test point {} is {}; a variance must be finite and not negative", t,
           test_diagonal[t]);
    }
  }
  std::vector<double> variance(test_diagonal.begin(), test_diagonal.end());
  for (Index begin = 0; begin < tests; begin += variance_strip) {
    Matrix<double> columns(n, std::min(variance_strip, tests - begin), Content::unset);
    transpose_strip(test_by_train, begin, columns.view());
    engine.algebra().solve(Transpose::yes, factor, columns.view());
    for (Index i = 0; i < n; ++i) {
      for (Index t = 0; t < columns.cols(); ++t) {
        variance[static_cast<std::size_t>(begin + t)] -= columns(i, t) * columns(i, t);
      }
    }
  }
  for (double& value : variance) value = std::max(value, 0.0);
  return variance;
}

void make_covariance(MatrixView<double> covariance) {
  interruptible_rows(covariance.rows, covariance.cols, [&](Index i) {
    covariance(i, i) = std::max(covariance(i, i), 0.0);
    for (Index j = 0; j < i; ++j) covariance(i, j) = covariance(j, i) = (covariance(i, j) + covariance(j, i)) / 2;
  });
}

Matrix<double> posterior_covariance(const EngineMatrix& factor, const Engine& engine, const AnyView& test_by_train,
                                    const AnyView& test_by_test) {
  const Index n = factor.rows();
  const Index tests = checked_tests(test_by_train, n);
  const GramMatrix prior(test_by_test, engine);
  if (prior.samples() != tests) {
    fail(Code::input, "K(test, train) has {} rows, but K(test, test) has {}", tests, prior.samples());
  }
  (void)prior.check();
  Matrix<double> columns(n, tests, Content::unset);
  transpose_strip(test_by_train, 0, columns.view());
  engine.algebra().solve(Transpose::yes, factor, columns.view());
  Matrix<double> covariance(tests, tests, Content::unset);
  engine.algebra().read(prior.matrix(), covariance.view());
  engine.algebra().host_product(-1, Transpose::yes, columns.view(), Transpose::no, columns.view(), 1,
                                covariance.view());
  make_covariance(covariance.view());
  return covariance;
}

Posterior GaussianProcess::posterior(const AnyView& test_by_train, std::span<const double> test_diagonal) const {
  if (!fit_.summary.converged()) fail(Code::numerical, "{}", fit_.summary.message);
  return {decision(fit_, test_by_train, engine_), posterior_variance(factor_, engine_, test_by_train, test_diagonal)};
}

Posterior GaussianProcess::joint_posterior(const AnyView& test_by_train, const AnyView& test_by_test) const {
  if (!fit_.summary.converged()) fail(Code::numerical, "{}", fit_.summary.message);
  Posterior result{
      decision(fit_, test_by_train, engine_), {}, posterior_covariance(factor_, engine_, test_by_train, test_by_test)};
  for (Index t = 0; t < result.covariance.rows(); ++t) result.variance.push_back(result.covariance(t, t));
  return result;
}

}  // namespace widelimit
