#include "tests/machine/svm_fixture.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <span>

namespace widelimit {
namespace {

TEST(Svm, PathFromWarmStartsIsThePathFromCold) {
  const Clouds data = clouds(120, 1.5, 2);
  const double lambdas[]{1.0, 1e-3, 100.0, 0.01, 1e-4};
  for (const bool bias : {false, true}) {
    for (const SvmLoss loss : {SvmLoss::hinge, SvmLoss::squared_hinge}) {
      const auto path = svm_path(data.gram.view(), data.labels, lambdas, {.bias = bias}, loss);
      for (std::size_t l = 0; l < std::size(lambdas); ++l) {
        const SvmOptions options{.lambda = lambdas[l], .bias = bias};
        expect_optimal(data.gram, data.labels, path[l], options, loss);
        const Fit cold = loss == SvmLoss::hinge ? fit_svm(data.gram.view(), data.labels, options)
                                                : fit_svm2(data.gram.view(), data.labels, options);
        EXPECT_NEAR(*cold.summary.dual, *path[l].summary.dual, 2e-6 * *cold.summary.dual);
      }
    }
  }
}

/// Every λ of a path is solved to the tolerance, with the same result as a separate fit.
void expect_path(const Matrix<double>& gram, std::span<const double> y, std::span<const double> lambdas,
                 const SvmOptions& options) {
  const auto path = svm_path(gram.view(), y, lambdas, options);
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    SvmOptions own = options;
    own.lambda = lambdas[l];
    expect_optimal(gram, y, path[l], own, SvmLoss::hinge, 1.1 * options.tolerance);
    const Fit cold = fit_svm(gram.view(), y, own);
    // The dual is strongly concave: ½‖β − β'‖² is at most the sum of both distances to its maximum.
    Fit apart{Matrix<double>(gram.rows(), 1), {0.0}, {}};
    for (Index i = 0; i < gram.rows(); ++i) apart.alpha(i, 0) = path[l].alpha(i, 0) - cold.alpha(i, 0);
    EXPECT_LE(own.lambda / 2 * squared_norm(gram, apart), 4 * options.tolerance * *cold.summary.primal);
  }
}

TEST(Svm, ASolutionWithoutLossesIsThatOfEverySmallerLambda) {
  const double lambdas[]{1e-9, 1.0, 1e-6, 100.0, 1e-3, 1e-4, 1e-5};
  for (const bool bias : {false, true}) {
    const SvmOptions options{.bias = bias, .tolerance = 1e-8};
    for (const Index n : {2, 3, 16, 61}) {
      const Clouds data = clouds(n, 1.0, 14);
      expect_path(data.gram, data.labels, lambdas, options);
      const auto path = svm_path(data.gram.view(), data.labels, lambdas, options);
      EXPECT_EQ(path[0].summary.iterations, 0);  // the solution at 1e-6 has all coefficients inside its box
      for (Index i = 0; i < n; ++i) EXPECT_EQ(path[0].alpha(i, 0), path[2].alpha(i, 0));
      EXPECT_EQ(path[0].bias, path[2].bias);
    }
  }
}

TEST(Svm, TwinsOfOneClassSeparateAndTwinsOfTwoKeepTheirLosses) {
  const double lambdas[]{10.0, 1.0, 1e-2, 1e-4};
  Matrix<double> gram(6, 6);  // 0 and 1 are equal, and 2 and 3
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) gram(i, j) = i / 2 == j / 2 && (i == j || i < 4) ? 1 : 0.25;
  }
  const double separate[]{1, 1, -1, -1, 1, -1};
  const double opposed[]{1, -1, -1, -1, 1, 1};
  for (const bool bias : {false, true}) {
    const SvmOptions options{.bias = bias, .tolerance = 1e-8};
    expect_path(gram, separate, lambdas, options);
    expect_path(gram, opposed, lambdas, options);
    const auto path = svm_path(gram.view(), opposed, lambdas, options);
    for (std::size_t l = 0; l < 4; ++l) EXPECT_EQ(path[l].alpha(1, 0), -1 / lambdas[l]);
  }
}

}  // namespace
}  // namespace widelimit
