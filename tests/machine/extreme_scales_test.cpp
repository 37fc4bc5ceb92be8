#include "tests/machine/box_fixture.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/logistic/logistic.hpp"
#include "widelimit/machine/logistic/softmax.hpp"
#include "widelimit/machine/ridge/conjugate_gradient.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"
#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/machine/svm/svr.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace widelimit {
namespace {

/// Returns a column of alternating signs.
Matrix<double> filled(Index n, double size) {
  Matrix<double> column(n, 1);
  for (Index i = 0; i < n; ++i) column(i, 0) = i % 2 == 0 ? size : -size;
  return column;
}

Matrix<double> scaled(const Matrix<double>& k, double by) {
  Matrix<double> result(k.rows(), k.cols());
  std::transform(k.data(), k.data() + k.rows() * k.cols(), result.data(), [&](double entry) { return by * entry; });
  return result;
}

/// Expects finite values, a message if the fit did not converge, and a gap if it did.
void expect_consistent(const Fit& fit, double tolerance) {
  expect_finite(fit);
  if (fit.summary.converged()) {
    ASSERT_TRUE(fit.summary.gap);
    EXPECT_LE(*fit.summary.gap, tolerance);
  } else {
    EXPECT_FALSE(fit.summary.message.empty());
  }
}

/// Returns a fit, or expects an Error{input} that names the value out of range.
template <typename Fitting>
void expect_fit_or_refusal(const Fitting& fitting, double tolerance) {
  try {
    expect_consistent(fitting(), tolerance);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input) << error.what();
  }
}

constexpr double kernel_scales[]{1e-300, 1e-150, 1, 1e150, 1e299};
constexpr double extreme_lambdas[]{1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300};

TEST(ExtremeScales, EndHonestly) {
  const Clouds data = clouds(20, 1.0, 4);
  std::vector<Index> classes;
  Matrix<double> y(20, 1);
  for (Index i = 0; i < 20; ++i) {
    classes.push_back(i % 3);
    y(i, 0) = std::sin(static_cast<double>(i));
  }
  for (const double scale : kernel_scales) {
    const Matrix<double> k = scaled(data.gram, scale);
    for (const double lambda : extreme_lambdas) {
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(fmt::format("K times {}, lambda {}, bias {}", scale, lambda, bias));
        const SvmOptions svm{.lambda = lambda, .bias = bias, .max_iterations = 50'000};
        expect_fit_or_refusal([&] { return fit_svm(k.view(), data.labels, svm); }, svm.tolerance);
        expect_fit_or_refusal([&] { return fit_svm2(k.view(), data.labels, svm); }, svm.tolerance);
        expect_fit_or_refusal([&] { return fit_hard_svm(k.view(), data.labels, svm); }, svm.tolerance);
        const LogisticOptions logistic{.lambda = lambda, .bias = bias};
        expect_fit_or_refusal([&] { return fit_logistic(k.view(), data.labels, logistic); }, logistic.tolerance);
        expect_fit_or_refusal([&] { return fit_softmax(k.view(), classes, 3, logistic); }, logistic.tolerance);
        for (const double target : {1e-300, 1e-150, 1.0, 1e150, 1e300}) {
          const Matrix<double> targets = scaled(y, target);
          SCOPED_TRACE(fmt::format("targets times {}", target));
          const SvrOptions svr{.lambda = lambda, .epsilon = 0.1 * target, .bias = bias, .max_iterations = 50'000};
          expect_fit_or_refusal([&] { return fit_svr(k.view(), targets.view(), svr); }, svr.tolerance);
          const Fit ridge = fit_ridge(k.view(), targets.view(), {.lambda = lambda, .bias = bias});
          expect_finite(ridge);
          EXPECT_TRUE(ridge.summary.converged() || !ridge.summary.message.empty());
        }
      }
    }
  }
}

/// The machine of sK and sλ has 1/s times the coefficients, also at both ends of the float64 range.
TEST(ExtremeScales, AreTheSameMachine) {
  const Clouds data = clouds(25, 1.0, 4);
  std::vector<Index> classes;
  for (Index i = 0; i < 25; ++i) classes.push_back(i % 3);
  const double lambda = 0.25;
  const SvmOptions plain{.lambda = lambda, .tolerance = 1e-9};
  const Fit svm = fit_svm(data.gram.view(), data.labels, plain);
  const Fit logistic = fit_logistic(data.gram.view(), data.labels, {.lambda = lambda, .tolerance = 1e-12});
  const Fit softmax = fit_softmax(data.gram.view(), classes, 3, {.lambda = lambda, .tolerance = 1e-12});
  for (const int power : {-900, -400, 400, 900}) {
    const double s = std::ldexp(1.0, power);
    const Matrix<double> k = scaled(data.gram, s);
    const Fit a = fit_svm(k.view(), data.labels, {.lambda = s * lambda, .tolerance = 1e-9});
    const Fit b = fit_logistic(k.view(), data.labels, {.lambda = s * lambda, .tolerance = 1e-12});
    const Fit c = fit_softmax(k.view(), classes, 3, {.lambda = s * lambda, .tolerance = 1e-12});
    ASSERT_TRUE(a.summary.converged() && b.summary.converged() && c.summary.converged())
        << power << a.summary.message << b.summary.message << c.summary.message;
    EXPECT_NEAR(*a.summary.primal, *svm.summary.primal, 1e-8 * *svm.summary.primal) << power;
    EXPECT_NEAR(*b.summary.primal, *logistic.summary.primal, 1e-11) << power;
    EXPECT_NEAR(*c.summary.primal, *softmax.summary.primal, 1e-11) << power;
    for (Index i = 0; i < 25; ++i) {
      EXPECT_NEAR(std::ldexp(b.alpha(i, 0), power), logistic.alpha(i, 0), 1e-4) << power;
    }
  }
}

/// Returns the message of an Error with this code, or an empty text.
template <typename Fitting>
std::string message(const Fitting& fitting, Code code = Code::input) {
  try {
    (void)fitting();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return {};
}

TEST(ExtremeScales, BeyondFloat64AreRefusedInWords) {
  Clouds data = clouds(6, 1.0, 4);
  EXPECT_NE(message([&] { return fit_svm(data.gram.view(), data.labels, {.lambda = 1e-305}); }).find("lambda"),
            std::string::npos);
  const Matrix<double> large = scaled(data.gram, 1e305);
  EXPECT_NE(message([&] { return fit_svm(large.view(), data.labels); }).find("divide the kernel"), std::string::npos);
  EXPECT_NE(message([&] {
              return fit_ridge(large.view(), MatrixView<const double>{data.labels.data(), 6, 1, 1});
            }).find("divide the kernel"),
            std::string::npos);
  const Matrix<double> far = scaled(data.gram, 1e290);
  EXPECT_NE(message([&] { return fit_logistic(far.view(), data.labels, {.lambda = 1e-100}); }).find("with a kernel"),
            std::string::npos);
}

/// Squares of targets occur in likelihoods, leave-one-out errors and conjugate gradients.
TEST(ExtremeScales, TargetsAndOutputsThatOverflowAreRefusedInWords) {
  const Clouds data = clouds(6, 1.0, 4);
  const GramMatrix k(data.gram.view());
  const auto expect_named = [&](double size) {
    const Matrix<double> y = filled(6, size);
    const std::array<double, 1> lambdas{1.0};
    EXPECT_NE(message([&] { return ridge_path(k, y.view(), lambdas, {}); }).find("squares"), std::string::npos);
    EXPECT_NE(message([&] { return conjugate_gradients(k, y.view(), {}); }).find("squares"), std::string::npos);
    EXPECT_NE(message([&] { return GaussianProcess(k, y.view(), {.noise = 0.1}); }).find("squares"), std::string::npos);
  };
  expect_named(1e154);
  expect_named(1e300);
  // An output is the product of two numbers in the range.
  const Fit fit{.alpha = filled(6, 1e12), .bias = {0}, .summary = {}};
  const Matrix<double> huge = scaled(data.gram, 1e300);
  EXPECT_NE(message([&] { return decision(fit, huge.view()); }, Code::numerical).find("test point 0"),
            std::string::npos);
  // y²·n is in the range, yᵀK⁻¹y is not.
  const Matrix<double> small = scaled(data.gram, 1e-20);
  const Matrix<double> y = filled(6, 1e150);
  EXPECT_NE(message([&] { return GaussianProcess(small.view(), y.view(), {}); }, Code::numerical).find("likelihood"),
            std::string::npos);
}

}  // namespace
}  // namespace widelimit
