#include "widelimit/finite/training/batches.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

TEST(Batches, OfAnEpochNeverShareASample) {
  Batches batches(37, 5, 3);
  std::vector<Index> seen;
  for (Index step = 7; step < 14; ++step) {
    const auto& batch = batches.of(step);
    ASSERT_EQ(batch.size(), 5);
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  EXPECT_GE(seen.front(), 0);
  EXPECT_LT(seen.back(), 37);
}

TEST(Batches, AreTheSameInAnyOrderOfAsking) {
  Batches forward(37, 5, 3);
  Batches backward(37, 5, 3);
  const auto late = backward.of(20);
  const auto early = backward.of(2);
  EXPECT_EQ(forward.of(2), early);
  EXPECT_EQ(forward.of(20), late);
  Batches other(37, 5, 4);
  EXPECT_NE(other.of(2), early);
}

TEST(Batches, FullOnesAreAllSamplesInOrder) {
  for (const Index size : {0, 3}) {
    Batches batches(3, size, 1);
    EXPECT_TRUE(batches.full());
    EXPECT_EQ(batches.of(9), (std::vector<Index>{0, 1, 2}));
  }
}

TEST(Batches, LargerThanTheDataAreRefused) {
  EXPECT_THROW((Batches{3, 4, 1}), Error);
  EXPECT_THROW((Batches{3, -1, 1}), Error);
}

}  // namespace
}  // namespace widelimit
