#include "widelimit/machine/probability/platt.hpp"

#include "tests/machine/box_fixture.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {
namespace {

/// Returns the gradient of the likelihood with Platt's targets, by definition.
std::pair<double, double> slope_of(const Sigmoid& s, std::span<const double> g, std::span<const double> labels) {
  const auto positive = static_cast<double>(std::count(labels.begin(), labels.end(), 1.0));
  const double negative = static_cast<double>(labels.size()) - positive;
  double by_slope = 0;
  double by_offset = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double t = labels[i] > 0 ? (positive + 1) / (positive + 2) : 1 / (negative + 2);
    const double p = 1 / (1 + std::exp(s.slope * g[i] + s.offset));
    by_slope += (t - p) * g[i];
    by_offset += t - p;
  }
  return {by_slope, by_offset};
}

TEST(Platt, IsStationary) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double apart : {0.0, 1.0, 20.0}) {
    for (const int n : {2, 3, 37, 400}) {
      std::vector<double> g;
      std::vector<double> labels;
      for (int i = 0; i < n; ++i) {
        labels.push_back(i % 3 == 0 ? 1 : -1);
        g.push_back(normal(random) + apart * labels.back());
      }
      const Sigmoid s = fit_sigmoid(g, labels);
      const auto [by_slope, by_offset] = slope_of(s, g, labels);
      EXPECT_NEAR(by_slope, 0, 1e-7 * n * (1 + apart)) << apart << ' ' << n;
      EXPECT_NEAR(by_offset, 0, 1e-7 * n) << apart << ' ' << n;
    }
  }
}

TEST(Platt, KnowsTheSigmoidThatMadeTheLabels) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const Sigmoid truth{-2, 0.5};
  std::vector<double> g;
  std::vector<double> labels;
  for (int i = 0; i < 20'000; ++i) {
    g.push_back(normal(random));
    labels.push_back(uniform(random) < truth.probability(g.back()) ? 1 : -1);
  }
  const Sigmoid s = fit_sigmoid(g, labels);
  // Standard errors are about 0.03 and 0.02.
  EXPECT_NEAR(s.slope, truth.slope, 0.12);
  EXPECT_NEAR(s.offset, truth.offset, 0.08);
}

TEST(Platt, StaysFiniteWhereDecisionsAreLargeOrAllTheSame) {
  const double labels[]{1, -1, 1, -1};
  const double separated[]{1e150, -1e150, 2e150, -3e150};
  const Sigmoid wide = fit_sigmoid(separated, labels);
  EXPECT_TRUE(std::isfinite(wide.slope));
  EXPECT_LT(wide.slope, 0);
  EXPECT_GT(wide.probability(1e150), 0.5);
  const double same[]{2, 2, 2, 2};
  EXPECT_NEAR(fit_sigmoid(same, labels).probability(2), 0.5, 1e-9);
  const double zero[]{0, 0, 0, 0};
  EXPECT_NEAR(fit_sigmoid(zero, labels).probability(0), 0.5, 1e-9);
  EXPECT_EQ((Sigmoid{-1, 0}).probability(1e4), 1);
  EXPECT_EQ((Sigmoid{-1, 0}).probability(-1e4), 0);
}

TEST(Platt, RefusesWhatHasNoAnswer) {
  const double labels[]{1, -1};
  const double one[]{1};
  EXPECT_THROW((void)fit_sigmoid(one, labels), Error);
  EXPECT_THROW((void)fit_sigmoid({}, {}), Error);
  const double broken[]{1, std::numeric_limits<double>::infinity()};
  EXPECT_THROW((void)fit_sigmoid(broken, labels), Error);
  const Clouds data = clouds(6, 1.0, 1);
  EXPECT_THROW((void)held_out_decisions(data.gram.view(), data.labels, 1), Error);
  const double single_sample[]{1, -1, -1, -1, -1, -1};
  EXPECT_THROW((void)held_out_decisions(data.gram.view(), single_sample, 3), Error);
}

TEST(HeldOut, DecisionsAreThoseOfAMachineThatNeverSawTheSample) {
  const Index n = 31;
  const Clouds data = clouds(n, 1.5, 2);
  const SvmOptions options{.lambda = 0.3, .bias = true, .tolerance = 1e-10};
  const auto held_out = held_out_decisions(data.gram.view(), data.labels, 4, options);
  // Samples alternate between the classes, so that fold f holds 2f, 2f + 1, 2f + 8, 2f + 9, …
  for (Index f = 0; f < 4; ++f) {
    std::vector<double> weights;
    for (Index i = 0; i < n; ++i) weights.push_back((i / 2) % 4 == f ? 0 : 1);
    SvmOptions without = options;
    without.weights = weights;
    const Fit fit = fit_svm(data.gram.view(), data.labels, without);
    const auto g = values(data.gram, fit);
    for (Index i = 0; i < n; ++i) {
      if ((i / 2) % 4 != f) continue;
      EXPECT_NEAR(held_out[static_cast<std::size_t>(i)], g[static_cast<std::size_t>(i)], 1e-4) << i;
    }
  }
}

TEST(Calibrate, EachOutputHasTheSigmoidOfItsOwnProblem) {
  const Index n = 45;
  const Clouds data = clouds(n, 1.0, 5);
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) labels.push_back(i % 3);
  const SvmOptions options{.lambda = 0.5, .tolerance = 1e-9};
  const auto rest = calibrate(data.gram.view(), labels, 3, Scheme::one_vs_rest, options);
  const auto pairs = calibrate(data.gram.view(), labels, 3, Scheme::one_vs_one, options);
  ASSERT_EQ(rest.size(), 3U);
  ASSERT_EQ(pairs.size(), 3U);
  for (Index c = 0; c < 3; ++c) {
    std::vector<double> signs;
    for (const Index label : labels) signs.push_back(label == c ? 1 : -1);
    const Sigmoid own = fit_sigmoid(held_out_decisions(data.gram.view(), signs, platt_folds, options), signs);
    EXPECT_EQ(rest[static_cast<std::size_t>(c)], own) << c;
  }
  // The pair (0, 2) on a Gram matrix of its own samples, with class 0 positive.
  std::vector<Index> kept;
  std::vector<double> signs;
  for (Index i = 0; i < n; ++i) {
    if (labels[static_cast<std::size_t>(i)] == 1) continue;
    kept.push_back(i);
    signs.push_back(labels[static_cast<std::size_t>(i)] == 0 ? 1 : -1);
  }
  Matrix<double> part(std::ssize(kept), std::ssize(kept));
  for (Index i = 0; i < part.rows(); ++i) {
    for (Index j = 0; j < part.cols(); ++j) {
      part(i, j) = data.gram(kept[static_cast<std::size_t>(i)], kept[static_cast<std::size_t>(j)]);
    }
  }
  const Sigmoid own = fit_sigmoid(held_out_decisions(part.view(), signs, platt_folds, options), signs);
  EXPECT_NEAR(pairs[1].slope, own.slope, 1e-6 * std::abs(own.slope));
  EXPECT_NEAR(pairs[1].offset, own.offset, 1e-6);
}

TEST(Calibrate, SamplesWithoutWeightDoNotCount) {
  const Clouds data = clouds(24, 1.0, 6);
  std::vector<Index> labels;
  for (const double y : data.labels) labels.push_back(y > 0 ? 1 : 0);
  std::vector<double> weights(24, 1.0);
  for (std::size_t i = 20; i < 24; ++i) weights[i] = 0;
  Matrix<double> part(20, 20);
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 20; ++j) part(i, j) = data.gram(i, j);
  }
  const auto weighed = calibrate(data.gram.view(), labels, 2, Scheme::sign, {.weights = weights, .tolerance = 1e-12});
  labels.resize(20);
  const auto fewer = calibrate(part.view(), labels, 2, Scheme::sign, {.tolerance = 1e-12});
  ASSERT_EQ(weighed.size(), 1U);
  EXPECT_NEAR(weighed[0].slope, fewer[0].slope, 1e-6 * std::abs(fewer[0].slope));
  EXPECT_NEAR(weighed[0].offset, fewer[0].offset, 1e-6);
}

TEST(Couple, ReturnsProbabilitiesThatMadeThePairs) {
  const double p[]{0.5, 0.3, 0.15, 0.05};
  Matrix<double> pairwise(2, 6);
  Index column = 0;
  for (Index c = 0; c < 4; ++c) {
    for (Index d = c + 1; d < 4; ++d, ++column) {
      pairwise(0, column) = p[c] / (p[c] + p[d]);
      pairwise(1, column) = c == 0 ? 1 : 0.5;
    }
  }
  const Matrix<double> coupled = pairwise_coupling(pairwise.view(), 4);
  for (Index c = 0; c < 4; ++c) EXPECT_NEAR(coupled(0, c), p[c], 1e-9);
  EXPECT_GT(coupled(1, 0), 0.99);
  double sum = 0;
  for (Index c = 0; c < 4; ++c) sum += coupled(1, c);
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_THROW((void)pairwise_coupling(pairwise.view(), 3), Error);
  pairwise(0, 0) = 1.5;
  EXPECT_THROW((void)pairwise_coupling(pairwise.view(), 4), Error);
}

}  // namespace
}  // namespace widelimit
