#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/machine/svm/svr.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace widelimit {
namespace {

// scikit-learn 1.9 (LIBSVM), SVC and SVR with kernel="precomputed", tol=1e-12, on the points xᵢ = (sin 1.3i, cos 2.1i,
// sin(3.7i + 1)), k = exp(−‖x − x'‖²/2), i < 60.
constexpr Index count = 60;

std::array<double, 3> point(Index i) {
  const auto t = static_cast<double>(i);
  return {std::sin(1.3 * t), std::cos(2.1 * t), std::sin(3.7 * t + 1)};
}

Matrix<double> gaussian_gram() {
  Matrix<double> gram(count, count);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d) square += std::pow(point(i)[d] - point(j)[d], 2);
      gram(i, j) = std::exp(-square / 2);
    }
  }
  return gram;
}

TEST(LibsvmGolden, SvcHasTheSameDualObjectiveAndBias) {
  struct Golden {
    double c;
    bool weighted;
    double dual;
    double bias;
  };
  const Golden table[]{
      {0.1, false, 4.722541456969731, -0.6398012948222458},  {0.1, true, 8.475581209384869, -0.3645670506099008},
      {1, false, 33.60742957511819, -0.32126582278019755},   {1, true, 66.13187782978535, -0.41926814013647346},
      {10, false, 297.10567022996776, -0.5983278766148689},  {10, true, 583.7395742482498, -1.044434672158002},
      {1000, false, 21086.970829844107, -1.304248795657065}, {1000, true, 38025.57757128733, 1.3171479797488386},
  };
  const Matrix<double> gram = gaussian_gram();
  std::vector<double> labels;
  std::vector<double> weights;
  for (Index i = 0; i < count; ++i) {
    labels.push_back(point(i)[0] + 0.8 * std::sin(5.0 * static_cast<double>(i)) > 0.1 ? 1 : -1);
    weights.push_back(static_cast<double>(1 + i % 3));
  }
  for (const Golden& golden : table) {
    SvmOptions options{.lambda = 1 / golden.c, .bias = true, .tolerance = 1e-11};
    if (golden.weighted) options.weights = weights;
    const Fit fit = fit_svm(gram.view(), labels, options);
    // The objective of EQ is λ times that of LIBSVM.
    EXPECT_NEAR(*fit.summary.dual * golden.c, golden.dual, 1e-8 * golden.dual) << golden.c;
    // LIBSVM stores K in single precision, so its margins have errors of 6e-8 times the size of α.
    EXPECT_NEAR(fit.bias[0], golden.bias, 1e-5 + 1e-6 * golden.c) << golden.c;
  }
}

TEST(LibsvmGolden, SvrHasTheSameDualObjectiveAndBias) {
  struct Golden {
    double c;
    double epsilon;
    double dual;
    double bias;
  };
  const Golden table[]{
      {0.1, 0.1, 2.740333771878308, -0.03481463335636068}, {0.1, 0.5, 1.3457596983657272, 0.022424293758113473},
      {1, 0.1, 14.491403601818615, 0.015280919588861377},  {1, 0.5, 2.806630957219719, -0.024834051118240563},
      {100, 0.1, 855.4069175812942, 0.09925284398012311},  {100, 0.5, 3.0160680933833497, 0.02331604705055439},
  };
  const Matrix<double> gram = gaussian_gram();
  Matrix<double> targets(count, 1);
  for (Index i = 0; i < count; ++i) {
    targets(i, 0) = std::sin(2 * point(i)[0]) + 0.5 * std::cos(7.0 * static_cast<double>(i));
  }
  for (const Golden& golden : table) {
    const Fit fit = fit_svr(gram.view(), targets.view(),
                            {.lambda = 1 / golden.c, .epsilon = golden.epsilon, .bias = true, .tolerance = 1e-11});
    EXPECT_NEAR(*fit.summary.dual * golden.c, golden.dual, 1e-8 * golden.dual) << golden.c;
    EXPECT_NEAR(fit.bias[0], golden.bias, 1e-4) << golden.c;
  }
}

}  // namespace
}  // namespace widelimit
