#include "widelimit/analysis/margins.hpp"

#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

/// A prediction is correct if and only if the margin is positive; for one-vs-one, a positive margin implies a correct
/// vote.
TEST(Margins, AgreeWithTheClassesTold) {
  struct Case {
    Scheme scheme;
    Index classes;
  };
  for (const auto& [scheme, classes] : {Case{Scheme::sign, 2}, Case{Scheme::one_hot, 3}, Case{Scheme::one_vs_rest, 10},
                                        Case{Scheme::softmax, 2}, Case{Scheme::one_vs_one, 4}}) {
    const Index n = 37;
    const Matrix<double> g = normal_rows(n, output_count(scheme, classes), 5);
    std::vector<Index> labels;
    for (Index i = 0; i < n; ++i) labels.push_back(i % classes);
    const std::vector<double> found = margins(scheme, classes, g.view(), labels);
    const std::vector<Index> predicted = classes_of(scheme, classes, g.view());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (scheme == Scheme::one_vs_one) {
        EXPECT_TRUE(found[i] <= 0 || predicted[i] == labels[i]) << "sample " << i;
      } else {
        EXPECT_EQ(found[i] > 0, predicted[i] == labels[i]) << to_string(scheme) << ", sample " << i;
      }
    }
  }
}

TEST(Margins, AreDistances) {
  Matrix<double> two(2, 1);
  two(0, 0) = 3;
  two(1, 0) = -0.5;
  EXPECT_EQ(margins(Scheme::sign, 2, two.view(), std::vector<Index>{1, 1}), (std::vector<double>{3, -0.5}));
  EXPECT_EQ(margins(Scheme::sign, 2, two.view(), std::vector<Index>{0, 0}), (std::vector<double>{-3, 0.5}));
  Matrix<double> three(1, 3);
  three(0, 0) = 1;
  three(0, 1) = 4;
  three(0, 2) = -2;
  EXPECT_EQ(margins(Scheme::one_hot, 3, three.view(), std::vector<Index>{1})[0], 3);
  EXPECT_EQ(margins(Scheme::one_hot, 3, three.view(), std::vector<Index>{2})[0], -6);
  // Pairs (0,1) = 1, (0,2) = 4, (1,2) = −2: class 2 loses to 0 by 4 and wins against 1 by 2.
  EXPECT_EQ(margins(Scheme::one_vs_one, 3, three.view(), std::vector<Index>{0})[0], 1);
  EXPECT_EQ(margins(Scheme::one_vs_one, 3, three.view(), std::vector<Index>{2})[0], -4);
}

TEST(Margins, RefuseWhatDoesNotAgree) {
  const Matrix<double> g = normal_rows(2, 3, 5);
  EXPECT_THROW((void)margins(Scheme::values, 3, g.view(), std::vector<Index>{0, 1}), Error);
  EXPECT_THROW((void)margins(Scheme::one_hot, 4, g.view(), std::vector<Index>{0, 1}), Error);
  EXPECT_THROW((void)margins(Scheme::one_hot, 3, g.view(), std::vector<Index>{0}), Error);
  EXPECT_THROW((void)margins(Scheme::one_hot, 3, g.view(), std::vector<Index>{0, 3}), Error);
  EXPECT_TRUE(margins(Scheme::sign, 2, Matrix<double>(0, 1).view(), {}).empty());
}

TEST(Histograms, CountAllAndPartTheSigns) {
  const Random random(3);
  std::vector<std::vector<double>> parts(2);
  for (std::uint64_t i = 0; i < 500; ++i) parts[i % 5 == 0 ? 0 : 1].push_back(random.normal(i));
  const std::vector<Histogram> found = histograms(parts);
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t p = 0; p < 2; ++p) {
    const Histogram& histogram = found[p];
    EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), Index{0}), std::ssize(parts[p]));
    Index below = 0;
    for (Index b = 0; b < std::ssize(histogram.counts); ++b) {
      if (histogram.edge(b + 1) <= histogram.width / 2) below += histogram.counts[static_cast<std::size_t>(b)];
    }
    EXPECT_EQ(below, std::count_if(parts[p].begin(), parts[p].end(), [](double x) { return x < 0; }));
  }
  EXPECT_EQ(found[0].counts.size(), found[1].counts.size());
}

TEST(Histograms, OfAwkwardValues) {
  EXPECT_TRUE(histograms({}).empty());
  EXPECT_TRUE(histograms(std::vector<std::vector<double>>(2)).empty());
  for (const std::vector<double>& values :
       {std::vector<double>{0}, {0, 0}, {1, 1, 1}, {-3}, {1e308, -1e308}, {5e-324}, {1, 1 + 1e-15}, {1e300, 1}}) {
    const auto found = histograms(std::vector<std::vector<double>>{values});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_LT(found[0].counts.size(), 60U);
    EXPECT_GT(found[0].width, 0);
    EXPECT_TRUE(std::isfinite(found[0].first));
    EXPECT_EQ(std::accumulate(found[0].counts.begin(), found[0].counts.end(), Index{0}), std::ssize(values));
  }
  EXPECT_THROW((void)histograms(std::vector<std::vector<double>>{{1, HUGE_VAL}}), Error);
}

}  // namespace
}  // namespace widelimit
