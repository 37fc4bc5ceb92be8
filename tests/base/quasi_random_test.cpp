#include "widelimit/base/quasi_random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace widelimit {
namespace {

/// A digital shift preserves the net: each interval of length 2^−k contains one of the first 2^k points, in every
/// dimension.
TEST(QuasiRandom, IsStratifiedInEveryDimension) {
  for (const std::uint64_t stream : {0U, 7U}) {
    const QuasiRandom sequence(3, stream);
    for (Index dimension = 0; dimension < QuasiRandom::dimensions; ++dimension) {
      for (const std::uint32_t points : {2U, 64U, 1024U}) {
        std::vector<int> hits(points, 0);
        for (std::uint32_t i = 0; i < points; ++i) {
          ++hits[static_cast<std::size_t>(sequence.uniform(dimension, i) * points)];
        }
        EXPECT_EQ(hits, std::vector<int>(points, 1)) << dimension;
      }
    }
  }
}

/// Unshifted points of dimensions 1, 2, 3 and 32 from scipy.stats.qmc.Sobol: XOR with point 0 cancels the shift.
TEST(QuasiRandom, IsTheSequenceOfJoeAndKuo) {
  const QuasiRandom sequence(11, 2);
  const auto digits = [&](Index dimension, std::uint32_t index) {
    return static_cast<std::uint32_t>(std::floor(std::ldexp(sequence.uniform(dimension, index), 32)));
  };
  const auto plain = [&](Index dimension, std::uint32_t index) {
    return std::ldexp(static_cast<double>(digits(dimension, index) ^ digits(dimension, 0)), -32);
  };
  EXPECT_EQ(plain(0, 1), 0.5);
  EXPECT_EQ(plain(0, 2), 0.25);
  EXPECT_EQ(plain(1, 2), 0.75);
  EXPECT_EQ(plain(1, 4), 0.625);
  EXPECT_EQ(plain(2, 4), 0.375);
  EXPECT_EQ(plain(2, 8), 0.5625);
  EXPECT_EQ(plain(31, 128), 0.16796875);
}

/// Coordinates of two dimensions are uncorrelated up to the order of the net.
TEST(QuasiRandom, NormalsHaveTheirMoments) {
  const QuasiRandom sequence(5, 1);
  constexpr std::uint32_t points = 4096;
  for (Index a = 0; a < 8; ++a) {
    double mean = 0;
    double square = 0;
    double product = 0;
    for (std::uint32_t i = 0; i < points; ++i) {
      const double z = sequence.normal(a, i);
      mean += z / points;
      square += z * z / points;
      product += z * sequence.normal(a + 1, i) / points;
    }
    EXPECT_NEAR(mean, 0, 3e-3);
    EXPECT_NEAR(square, 1, 1e-2);
    EXPECT_NEAR(product, 0, 1e-2);
  }
}

TEST(QuasiRandom, IsAFunctionOfSeedStreamAndIndex) {
  EXPECT_EQ(QuasiRandom(1, 2).uniform(3, 4), QuasiRandom(1, 2).uniform(3, 4));
  EXPECT_NE(QuasiRandom(1, 2).uniform(3, 4), QuasiRandom(1, 3).uniform(3, 4));
  EXPECT_NE(QuasiRandom(1, 2).uniform(3, 4), QuasiRandom(2, 2).uniform(3, 4));
}

}  // namespace
}  // namespace widelimit
