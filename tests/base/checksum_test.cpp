#include "widelimit/base/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace widelimit {
namespace {

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t k = 0; k < size; ++k) bytes[k] = static_cast<std::byte>(k * 37 % 251);
  return bytes;
}

TEST(Checksum, EveryBitOfEveryByteCounts) {
  for (const std::size_t size : {1U, 7U, 8U, 31U, 32U, 33U, 100U}) {
    auto bytes = counted(size);
    const std::uint64_t sum = checksum(bytes);
    EXPECT_EQ(checksum(counted(size)), sum);
    std::set<std::uint64_t> visited{sum};
    for (std::size_t k = 0; k < size; ++k) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        bytes[k] ^= static_cast<std::byte>(1U << bit);
        EXPECT_TRUE(visited.insert(checksum(bytes)).second) << size << " " << k << " " << bit;
        bytes[k] ^= static_cast<std::byte>(1U << bit);
      }
    }
  }
}

TEST(Checksum, LengthOrderAndSeedCount) {
  const std::vector<std::byte> zeros(200);
  std::set<std::uint64_t> visited;
  for (std::size_t size = 0; size <= 200; ++size) {
    EXPECT_TRUE(visited.insert(checksum(std::span(zeros).first(size))).second) << size;
  }
  const auto a = counted(64);
  EXPECT_NE(checksum(a, 1), checksum(a, 2));
  EXPECT_NE(checksum(a, checksum(zeros)), checksum(zeros, checksum(a)));
  // Swapped blocks.
  auto swapped = a;
  std::swap_ranges(swapped.begin(), swapped.begin() + 32, swapped.begin() + 32);
  EXPECT_NE(checksum(a), checksum(swapped));
}

}  // namespace
}  // namespace widelimit
