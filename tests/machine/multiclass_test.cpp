#include "widelimit/machine/multiclass.hpp"

#include "tests/machine/box_fixture.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/probability/platt.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Unordered labels of `classes` classes.
std::vector<Index> mixed_labels(Index n, Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) labels.push_back((i * i + i / 3) % classes);
  for (Index c = 0; c < classes; ++c) labels[static_cast<std::size_t>(c)] = c;
  return labels;
}

TEST(OneVsOne, IsTheBinaryMachineOfEachPair) {
  const Index n = 97;
  const Clouds data = clouds(n, 1.0, 12);
  const Index classes = 4;
  const auto labels = mixed_labels(n, classes);
  std::vector<double> weights;
  for (Index i = 0; i < n; ++i) weights.push_back(1 + 0.5 * static_cast<double>(i % 3));
  for (const bool bias : {false, true}) {
    SvmOptions options{.lambda = 0.2, .bias = bias, .weights = weights, .tolerance = 1e-10};
    const Fit all = fit_one_vs_one(data.gram.view(), labels, classes, options);
    ASSERT_EQ(all.alpha.cols(), 6);
    ASSERT_EQ(all.bias.size(), 6U);
    Index output = 0;
    double primal = 0;
    for (Index c = 0; c < classes; ++c) {
      for (Index d = c + 1; d < classes; ++d, ++output) {
        std::vector<Index> samples;
        std::vector<double> signs;
        std::vector<double> own_weights;
        for (Index i = 0; i < n; ++i) {
          const Index label = labels[static_cast<std::size_t>(i)];
          if (label != c && label != d) {
            EXPECT_EQ(all.alpha(i, output), 0);
            continue;
          }
          samples.push_back(i);
          signs.push_back(label == c ? 1 : -1);
          own_weights.push_back(weights[static_cast<std::size_t>(i)]);
        }
        Matrix<double> gram(std::ssize(samples), std::ssize(samples));
        for (std::size_t i = 0; i < samples.size(); ++i) {
          for (std::size_t j = 0; j < samples.size(); ++j) {
            gram(static_cast<Index>(i), static_cast<Index>(j)) = data.gram(samples[i], samples[j]);
          }
        }
        SvmOptions own = options;
        own.weights = own_weights;
        const Fit pair = fit_svm(gram.view(), signs, own);
        for (std::size_t i = 0; i < samples.size(); ++i) {
          EXPECT_NEAR(all.alpha(samples[i], output), pair.alpha(static_cast<Index>(i), 0), 1e-3);
        }
        EXPECT_NEAR(all.bias[static_cast<std::size_t>(output)], pair.bias[0], 1e-4);
        primal += *pair.summary.primal;
      }
    }
    EXPECT_NEAR(*all.summary.primal, primal, 1e-9 * primal);
  }
}

TEST(OneVsRest, IsTheBinaryMachineOfEachClass) {
  const Index n = 60;
  const Clouds data = clouds(n, 1.0, 13);
  const auto labels = mixed_labels(n, 3);
  const SvmOptions options{.lambda = 0.5, .bias = true, .tolerance = 1e-9};
  const Fit all = fit_one_vs_rest(data.gram.view(), labels, 3, options);
  for (Index c = 0; c < 3; ++c) {
    std::vector<double> signs;
    for (const Index label : labels) signs.push_back(label == c ? 1 : -1);
    const Fit one = fit_svm(data.gram.view(), signs, options);
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(all.alpha(i, c), one.alpha(i, 0), 1e-6);
  }
}

TEST(OneVsOne, PathAgreesWithSingleFitsAndThreadsChangeNothing) {
  const Clouds data = clouds(120, 2.0, 14);
  const auto labels = mixed_labels(120, 5);
  const double lambdas[]{0.01, 10.0, 1e-4, 1.0};
  const auto path =
      one_vs_one_path({data.gram.view(), *make_engine("cpu", {.threads = 1})}, labels, 5, lambdas, {.bias = true});
  const auto again =
      one_vs_one_path({data.gram.view(), *make_engine("cpu", {.threads = 2})}, labels, 5, lambdas, {.bias = true});
  for (std::size_t l = 0; l < std::size(lambdas); ++l) {
    const Fit single = fit_one_vs_one(data.gram.view(), labels, 5, {.lambda = lambdas[l], .bias = true});
    ASSERT_TRUE(path[l].summary.converged());
    EXPECT_LE(*path[l].summary.gap, 1e-6);
    EXPECT_NEAR(*path[l].summary.dual, *single.summary.dual, 2e-6 * *single.summary.dual);
    for (Index i = 0; i < 120 * 10; ++i) ASSERT_EQ(path[l].alpha.data()[i], again[l].alpha.data()[i]);
  }
}

TEST(OneVsOne, OfTwoClassesIsTheBinaryMachine) {
  const Clouds data = clouds(40, 1.0, 15);
  std::vector<Index> labels;
  for (const double y : data.labels) labels.push_back(y > 0 ? 0 : 1);
  const Fit two = fit_one_vs_one(data.gram.view(), labels, 2);
  const Fit binary = fit_svm(data.gram.view(), data.labels);
  for (Index i = 0; i < 40; ++i) EXPECT_EQ(two.alpha(i, 0), binary.alpha(i, 0));
}

TEST(OneVsOne, TellsTheWorstEnding) {
  const std::vector<Index> labels{0, 1, 2, 2};
  Matrix<double> gram(4, 4);
  for (Index i = 0; i < 4; ++i) gram(i, i) = 1;
  gram(0, 1) = gram(1, 0) = 1;
  const Fit fit = fit_one_vs_one(gram.view(), labels, 3, {}, SvmLoss::hard);
  EXPECT_EQ(fit.summary.ending, Ending::not_separable);
  EXPECT_FALSE(fit.summary.message.empty());
  EXPECT_FALSE(fit.summary.gap);
  expect_finite(fit);
}

TEST(Vote, CountsThenSumsThenTakesTheLowest) {
  Matrix<double> decisions(4, 3);  // (0,1), (0,2), (1,2)
  const double rows[4][3]{{1, 1, 1}, {-1, -1, -1}, {2, -1, 0.5}, {1, -1, 1}};
  for (Index i = 0; i < 4; ++i) std::copy_n(rows[i], 3, decisions.view().row(i));
  // Third row: one vote each, sums 2 − 1, −2 + 0.5, 1 − 0.5. Fourth: one vote each, all sums 0.
  EXPECT_EQ(vote(decisions.view(), 3), (std::vector<Index>{0, 2, 0, 0}));
  EXPECT_THROW((void)vote(decisions.view(), 4), Error);
  decisions(2, 0) = 0.5;  // sums 0.5 − 1, −0.5 + 0.5, 1 − 0.5: the last class
  EXPECT_EQ(vote(decisions.view(), 3), (std::vector<Index>{0, 2, 2, 0}));
  EXPECT_EQ(vote(decisions.view(), 3, Scheme::one_vs_one_first), (std::vector<Index>{0, 2, 0, 0}));
  EXPECT_EQ(largest_output(decisions.view()), (std::vector<Index>{0, 0, 0, 0}));
}

TEST(OneVsOne, DecisionsOfManyClassesAreTheirDefinition) {
  constexpr Index classes = 40;
  const Clouds data = clouds(3 * classes, 1.0, 8);
  std::vector<Index> labels;
  for (Index i = 0; i < 3 * classes; ++i) labels.push_back(i % classes);
  const Fit fit = fit_one_vs_one(data.gram.view(), labels, classes, {.lambda = 0.5, .bias = true});
  const Matrix<double> g = decision(fit, data.gram.view());
  for (const Index output : {Index{0}, Index{500}, g.cols() - 1}) {
    const std::vector<double> expected = values(data.gram, fit, output);
    for (Index i = 0; i < g.rows(); ++i) EXPECT_NEAR(g(i, output), expected[usize(i)], 1e-12);
  }
}

TEST(OneVsOne, RefusesLabelsItCannotUse) {
  const Clouds data = clouds(4, 1.0, 1);
  const std::vector<Index> beyond{0, 1, 2, 3};
  EXPECT_THROW((void)fit_one_vs_one(data.gram.view(), beyond, 3), Error);
  const std::vector<Index> negative{0, 1, -1, 1};
  EXPECT_THROW((void)fit_one_vs_one(data.gram.view(), negative, 2), Error);
  const std::vector<Index> missing{0, 2, 0, 2};
  EXPECT_THROW((void)fit_one_vs_rest(data.gram.view(), missing, 3), Error);
  const std::vector<Index> single{0, 0, 0, 0};
  EXPECT_THROW((void)fit_one_vs_one(data.gram.view(), single, 1), Error);
  const std::vector<Index> few{0, 1};
  EXPECT_THROW((void)fit_one_vs_one(data.gram.view(), few, 2), Error);
}

TEST(OneVsOne, StopsInsideAProblem) {
  struct Never : Progress {
    bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
  } never;
  const Clouds data = clouds(60, 0.5, 1);
  std::vector<Index> labels;
  for (Index i = 0; i < 60; ++i) labels.push_back(i % 3);
  for (const int threads : {1, 2}) {
    const auto engine = make_engine("cpu", {.threads = threads});
    const GramMatrix k(data.gram.view(), *engine);
    const SvmOptions options{.lambda = 1e-6, .progress = &never};
    EXPECT_THROW((void)fit_one_vs_one(k, labels, 3, options), Error);
    EXPECT_THROW((void)calibrate(k, labels, 3, Scheme::one_vs_one, options), Error);
  }
}

}  // namespace
}  // namespace widelimit
