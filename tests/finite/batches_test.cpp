#include "widelimit/finite/training/batches.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

TEST(Batches, OfAnEpochNeverShareASample) {
  Batches batches(37, 5, 3);
  std::vector<Index> visited;
  for (Index step = 7; step < 14; ++step) {
    const auto& batch = batches.of(step);
    ASSERT_EQ(batch.size(), 5);
    visited.insert(visited.end(), batch.begin(), batch.end());
  }
  std::sort(visited.begin(), visited.end());
  EXPECT_EQ(std::adjacent_find(visited.begin(), visited.end()), visited.end());
  EXPECT_GE(visited.front(), 0);
  EXPECT_LT(visited.back(), 37);
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
