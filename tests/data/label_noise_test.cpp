#include "widelimit/data/labels/label_noise.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

std::vector<Index> cycling(Index count, Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < count; ++i) labels.push_back(i % classes);
  return labels;
}

Index differences(const std::vector<Index>& a, const std::vector<Index>& b) {
  Index count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

TEST(FlipLabels, NoneAndAll) {
  for (const Index count : {0, 1, 2, 37}) {
    const std::vector<Index> labels = cycling(count, 2);
    EXPECT_EQ(flip_labels(labels, 2, 0, 1), labels);
    EXPECT_EQ(differences(flip_labels(labels, 2, 1, 1), labels), count);
  }
}

// The count is binomial; the tolerance is five standard deviations.
TEST(FlipLabels, FlipsTheShareItWasAskedFor) {
  constexpr Index n = 20000;
  for (const Index classes : {2, 10}) {
    const std::vector<Index> labels = cycling(n, classes);
    const double each = n / static_cast<double>(classes);
    for (const double share : {0.1, 0.4}) {
      const std::vector<Index> noisy = flip_labels(labels, classes, share, 7);
      EXPECT_NEAR(static_cast<double>(differences(noisy, labels)), n * share, 5 * std::sqrt(n * share * (1 - share)));
      std::vector<Index> hits(static_cast<std::size_t>(classes));
      for (const Index label : noisy) ++hits.at(static_cast<std::size_t>(label));
      for (const Index hit : hits) {
        EXPECT_NEAR(static_cast<double>(hit), each, 5 * std::sqrt(each));
      }
    }
  }
}

TEST(FlipLabels, IsAPureFunctionOfSeedAndPlaceAndNested) {
  const std::vector<Index> labels = cycling(500, 3);
  const std::vector<Index> few = flip_labels(labels, 3, 0.2, 4);
  const std::vector<Index> many = flip_labels(labels, 3, 0.4, 4);
  EXPECT_EQ(few, flip_labels(labels, 3, 0.2, 4));
  EXPECT_NE(few, flip_labels(labels, 3, 0.2, 5));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (few[i] != labels[i]) {
      EXPECT_EQ(many[i], few[i]) << i;
    }
  }
  const std::vector<Index> first = flip_labels(std::span(labels).first(37), 3, 0.4, 4);
  EXPECT_EQ(first, std::vector<Index>(many.begin(), many.begin() + 37));
}

TEST(FlipLabels, RefusesWhatIsNoShareOrNoClass) {
  const std::vector<Index> labels{0, 1, 2};
  EXPECT_THROW((void)flip_labels(labels, 3, -0.1, 0), Error);
  EXPECT_THROW((void)flip_labels(labels, 3, 1.1, 0), Error);
  EXPECT_THROW((void)flip_labels(labels, 3, std::nan(""), 0), Error);
  EXPECT_THROW((void)flip_labels(labels, 1, 0.1, 0), Error);
  EXPECT_THROW((void)flip_labels(labels, 2, 0.1, 0), Error);
}

TEST(LabelNoise, MatricesAreStochastic) {
  for (const Index classes : {2, 3, 10}) {
    for (const double share : {0.0, 0.4, 1.0}) {
      for (const Matrix<double>& t : {symmetric_noise(classes, share), pair_noise(classes, share)}) {
        for (Index c = 0; c < classes; ++c) {
          double sum = 0;
          for (Index d = 0; d < classes; ++d) sum += t(c, d);
          EXPECT_NEAR(sum, 1, 1e-15 * static_cast<double>(classes));
          EXPECT_DOUBLE_EQ(t(c, c), 1 - share);
        }
      }
    }
  }
  EXPECT_DOUBLE_EQ(symmetric_noise(10, 0.4)(3, 7), 0.4 / 9);
  EXPECT_DOUBLE_EQ(pair_noise(10, 0.4)(9, 0), 0.4);
}

// Fractions over 40,000 draws are within 5·√(p(1 − p)/n) of p, here below 0.02, except with probability 6e-7 each; the
// seed is fixed.
TEST(LabelNoise, LabelsFollowTheMatrix) {
  Matrix<double> t(3, 3);
  const std::vector<double> entries{0.5, 0.3, 0.2, 0, 1, 0, 0.25, 0, 0.75};
  std::copy(entries.begin(), entries.end(), t.data());
  const std::vector<Index> labels = cycling(120000, 3);
  const std::vector<Index> noisy = noisy_labels(labels, t.view(), 4);
  const Matrix<double> observed = observed_transition(labels, noisy, 3);
  for (Index i = 0; i < 9; ++i) {
    const double p = t.data()[i];
    EXPECT_NEAR(observed.data()[i], p, 5 * std::sqrt(p * (1 - p) / 40000)) << i;
  }
  EXPECT_EQ(noisy, noisy_labels(labels, t.view(), 4));
  EXPECT_NE(noisy, noisy_labels(labels, t.view(), 5));
  const std::vector<Index> few = noisy_labels(std::span(labels).first(50), t.view(), 4);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), noisy.begin()));
}

TEST(LabelNoise, RefusesWhatIsNone) {
  const std::vector<Index> labels{0, 1, 2};
  EXPECT_THROW((void)symmetric_noise(1, 0.1), Error);
  EXPECT_THROW((void)symmetric_noise(3, 1.1), Error);
  EXPECT_THROW((void)pair_noise(3, std::nan("")), Error);
  EXPECT_THROW((void)noisy_labels(labels, symmetric_noise(2, 0.1).view(), 0), Error);
  Matrix<double> t = pair_noise(3, 0.2);
  t(1, 1) = 0.9;
  EXPECT_THROW((void)noisy_labels(labels, t.view(), 0), Error);
  t = pair_noise(3, 0.2);
  t(1, 0) = -0.1;
  t(1, 1) = 0.9;
  EXPECT_THROW((void)noisy_labels(labels, t.view(), 0), Error);
  EXPECT_THROW((void)observed_transition(labels, std::vector<Index>{0}, 3), Error);
}

}  // namespace
}  // namespace widelimit
