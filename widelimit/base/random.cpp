#include "widelimit/base/random.hpp"

#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53;
}

/// Radius and angle of one Box–Muller draw.
struct Polar {
  double radius;
  double angle;
};
Polar polar(const std::array<std::uint32_t, 4>& word) {
  return {std::sqrt(-2.0 * std::log(open_unit(word[0], word[1]))),
          2.0 * std::numbers::pi * open_unit(word[2], word[3])};
}

template <typename T>
void fill_normals(const Random& random, std::uint64_t first, std::ptrdiff_t count, double scale, T* to) {
  std::ptrdiff_t i = 0;
  const auto single = [&] {
    to[i] = static_cast<T>(scale * random.normal(first + static_cast<std::uint64_t>(i)));
    ++i;
  };
  if (first % 2 == 1 && count > 0) single();
  for (; i + 1 < count; i += 2) {
    const Polar draw = polar(random.words((first + static_cast<std::uint64_t>(i)) / 2));
    to[i] = static_cast<T>(scale * (draw.radius * std::cos(draw.angle)));
    to[i + 1] = static_cast<T>(scale * (draw.radius * std::sin(draw.angle)));
  }
  if (i < count) single();
}

}  // namespace

std::array<std::uint32_t, 4> Random::words(std::uint64_t index) const {
  constexpr std::uint32_t multiplier_0 = 0xD2511F53;
  constexpr std::uint32_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9;
  constexpr std::uint32_t weyl_1 = 0xBB67AE85;
  std::array<std::uint32_t, 4> counter{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                                       static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)};
  auto key_0 = static_cast<std::uint32_t>(seed_);
  auto key_1 = static_cast<std::uint32_t>(seed_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = std::uint64_t{multiplier_0} * counter[0];
    const std::uint64_t product_1 = std::uint64_t{multiplier_1} * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key_0, static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key_1, static_cast<std::uint32_t>(product_0)};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return counter;
}

std::uint64_t Random::bits(std::uint64_t index) const {
  const auto word = words(index);
  return (static_cast<std::uint64_t>(word[0]) << 32) | word[1];
}

double Random::uniform(std::uint64_t index) const {
  const auto word = words(index);
  return open_unit(word[0], word[1]);
}

double Random::normal(std::uint64_t index) const {
  const Polar draw = polar(words(index / 2));
  return draw.radius * (index % 2 == 0 ? std::cos(draw.angle) : std::sin(draw.angle));
}

void Random::normals(std::uint64_t first, std::ptrdiff_t count, double scale, float* to) const {
  fill_normals(*this, first, count, scale, to);
}
void Random::normals(std::uint64_t first, std::ptrdiff_t count, double scale, double* to) const {
  fill_normals(*this, first, count, scale, to);
}

std::uint64_t Random::below(std::uint64_t bound, std::uint64_t index) const {
  // Multiply-shift; the bias bound/2^64 is negligible.
  return static_cast<std::uint64_t>((static_cast<__uint128_t>(bits(index)) * bound) >> 64);
}

}  // namespace widelimit
