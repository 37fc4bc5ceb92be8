#include "widelimit/base/checksum.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace widelimit {

namespace {

/// Odd, with as many ones as zeros: products with it are invertible and reach every higher bit.
constexpr std::uint64_t multiplier = 0x9d39247e33776d41;

/// Invertible in `word` for a given `lane`, and in `lane` for a given `word`: one changed word always shows. A product
/// carries changes upwards only, so the high half is folded back and carried up again.
constexpr std::uint64_t mix(std::uint64_t lane, std::uint64_t word) {
  const std::uint64_t product = (lane ^ word) * multiplier;
  return (product ^ product >> 32U) * multiplier;
}

std::uint64_t word_at(const std::byte* bytes, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return word;
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::size_t width = sizeof(std::uint64_t);
  // Four lanes, so that four products are under way at once.
  std::array<std::uint64_t, 4> lanes{seed, ~seed, seed + multiplier, seed - multiplier};
  std::size_t at = 0;
  for (; at + lanes.size() * width <= bytes.size(); at += lanes.size() * width) {
    for (std::size_t k = 0; k < lanes.size(); ++k)
      lanes[k] = mix(lanes[k], word_at(bytes.data() + at + k * width, width));
  }
  std::uint64_t sum = mix(seed, bytes.size());
  for (; at < bytes.size(); at += width) {
    sum = mix(sum, word_at(bytes.data() + at, std::min(width, bytes.size() - at)));
  }
  for (const std::uint64_t lane : lanes) sum = mix(sum, lane);
  return mix(sum, bytes.size());
}

}  // namespace widelimit
