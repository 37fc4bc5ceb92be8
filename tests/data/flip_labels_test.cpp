#include "widelimit/data/labels/flip_labels.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

std::vector<Index> counting_labels(Index count, Index classes) {
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
    const std::vector<Index> labels = counting_labels(count, 2);
    EXPECT_EQ(flip_labels(labels, 2, 0, 1), labels);
    EXPECT_EQ(differences(flip_labels(labels, 2, 1, 1), labels), count);
  }
}

// The count is binomial; the tolerance is five standard deviations.
TEST(FlipLabels, FlipsTheShareItWasAskedFor) {
  constexpr Index n = 20000;
  for (const Index classes : {2, 10}) {
    const std::vector<Index> labels = counting_labels(n, classes);
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
  const std::vector<Index> labels = counting_labels(500, 3);
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

}  // namespace
}  // namespace widelimit
