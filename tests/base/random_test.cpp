#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace widelimit {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST(Random, KnownAnswersOfPhilox4x32) {
  // Known-answer tests of Salmon et al. 2011; index is counter words 0 and 1, stream words 2 and 3.
  EXPECT_EQ(Random(0, 0).words(0), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(Random(ones, ones).words(ones), (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
}

TEST(Random, IsAPureFunctionOfSeedStreamAndIndex) {
  EXPECT_EQ(Random(1, 2).words(3), Random(1, 2).words(3));
  EXPECT_NE(Random(1, 2).words(3), Random(2, 2).words(3));
  EXPECT_NE(Random(1, 2).words(3), Random(1, 3).words(3));
  EXPECT_NE(Random(1, 2).words(3), Random(1, 2).words(4));
  EXPECT_EQ(Random(7).bits(9), Random(7, 0).bits(9));
}

// The mean of n draws has standard error σ/√n; a deviation of 5 standard errors has probability below 1e-6, and the
// seed is fixed.
TEST(Random, Moments) {
  const std::uint64_t n = 200'000;
  const Random random(2024, 1);
  double uniform = 0;
  double uniform_square = 0;
  double normal = 0;
  double normal_square = 0;
  double normal_fourth = 0;
  double neighbours = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double u = random.uniform(i);
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    uniform_square += u * u;
    const double z = random.normal(i);
    normal += z;
    normal_square += z * z;
    normal_fourth += z * z * z * z;
    neighbours += z * random.normal(i + 1);
  }
  const auto count = static_cast<double>(n);
  const double five = 5 / std::sqrt(count);
  EXPECT_NEAR(uniform / count, 0.5, five * std::sqrt(1.0 / 12));
  EXPECT_NEAR(uniform_square / count, 1.0 / 3, five * std::sqrt(4.0 / 45));
  EXPECT_NEAR(normal / count, 0, five);
  EXPECT_NEAR(normal_square / count, 1, five * std::sqrt(2.0));
  EXPECT_NEAR(normal_fourth / count, 3, five * std::sqrt(96.0));
  EXPECT_NEAR(neighbours / count, 0, five);
}

TEST(Random, BelowReachesEveryValueEquallyOften) {
  const Random random(3);
  for (const std::uint64_t bound : {1, 2, 37}) {
    std::vector<double> hits(bound);
    const std::uint64_t n = 10'000 * bound;
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto drawn = random.below(bound, i);
      ASSERT_LT(drawn, bound);
      hits[drawn] += 1;
    }
    for (const double count : hits) EXPECT_NEAR(count, 10'000, 5 * 100);  // binomial: σ < √10000
  }
}

TEST(Random, ManyNormalsAreThoseOneByOne) {
  const Random random(4, 9);
  for (const std::uint64_t first : {0U, 1U, 6U}) {
    for (const std::ptrdiff_t count : {0, 1, 2, 37}) {
      std::vector<double> many(static_cast<std::size_t>(count));
      std::vector<float> single(many.size());
      random.normals(first, count, 0.5, many.data());
      random.normals(first, count, 0.5, single.data());
      for (std::size_t i = 0; i < many.size(); ++i) {
        EXPECT_EQ(many[i], 0.5 * random.normal(first + i));
        EXPECT_EQ(single[i], static_cast<float>(many[i]));
      }
    }
  }
}

}  // namespace
}  // namespace widelimit
