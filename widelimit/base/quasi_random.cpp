#include "widelimit/base/quasi_random.hpp"

#include "widelimit/base/random.hpp"

#include <boost/math/special_functions/erf.hpp>

#include <bit>
#include <numbers>

namespace widelimit {

namespace {

constexpr int digits = 32;
using Columns = std::array<std::uint32_t, digits>;

/// Primitive polynomial over GF(2), highest power first, and the initial odd numbers m_k of its recursion.
struct Primitive {
  std::uint32_t polynomial;
  std::array<std::uint32_t, 7> first;
};

/// Table new-joe-kuo-6, dimensions 2 to 32.
constexpr std::array<Primitive, QuasiRandom::dimensions - 1> primitives{{
    {3, {1}},
    {7, {1, 3}},
    {11, {1, 3, 1}},
    {13, {1, 1, 1}},
    {19, {1, 1, 3, 3}},
    {25, {1, 3, 5, 13}},
    {37, {1, 1, 5, 5, 17}},
    {41, {1, 1, 5, 5, 5}},
    {47, {1, 1, 7, 11, 19}},
    {55, {1, 1, 5, 1, 1}},
    {59, {1, 1, 1, 3, 11}},
    {61, {1, 3, 5, 5, 31}},
    {67, {1, 3, 3, 9, 7, 49}},
    {91, {1, 1, 1, 15, 21, 21}},
    {97, {1, 3, 1, 13, 27, 49}},
    {103, {1, 1, 1, 15, 7, 5}},
    {109, {1, 3, 1, 15, 13, 25}},
    {115, {1, 1, 5, 5, 19, 61}},
    {131, {1, 3, 7, 11, 23, 15, 103}},
    {137, {1, 3, 7, 13, 13, 15, 69}},
    {143, {1, 1, 3, 13, 7, 35, 63}},
    {145, {1, 3, 5, 9, 1, 25, 53}},
    {157, {1, 3, 1, 13, 9, 35, 107}},
    {167, {1, 3, 1, 5, 27, 61, 31}},
    {171, {1, 1, 5, 11, 19, 41, 61}},
    {185, {1, 3, 5, 3, 3, 13, 69}},
    {191, {1, 1, 7, 13, 1, 19, 1}},
    {193, {1, 3, 7, 5, 13, 19, 59}},
    {203, {1, 1, 3, 9, 25, 29, 41}},
    {211, {1, 3, 5, 13, 23, 1, 55}},
    {213, {1, 3, 7, 3, 13, 59, 17}},
}};

/// v_k = m_k·2^{32−k} with m_k = 2a₁m_{k−1} ⊕ 2²a₂m_{k−2} ⊕ … ⊕ 2^s m_{k−s} ⊕ m_{k−s}.
constexpr Columns columns_of(const Primitive& primitive) {
  const int degree = std::bit_width(primitive.polynomial) - 1;
  Columns v{};
  for (int k = 0; k < digits; ++k) {
    if (k < degree) {
      v[static_cast<std::size_t>(k)] = primitive.first[static_cast<std::size_t>(k)] << (digits - 1 - k);
      continue;
    }
    const std::uint32_t last = v[static_cast<std::size_t>(k - degree)];
    std::uint32_t next = last ^ (last >> degree);
    for (int j = 1; j < degree; ++j) {
      if (((primitive.polynomial >> (degree - j)) & 1U) != 0) next ^= v[static_cast<std::size_t>(k - j)];
    }
    v[static_cast<std::size_t>(k)] = next;
  }
  return v;
}

constexpr std::array<Columns, QuasiRandom::dimensions> all_columns() {
  std::array<Columns, QuasiRandom::dimensions> all{};
  for (int k = 0; k < digits; ++k) all[0][static_cast<std::size_t>(k)] = std::uint32_t{1} << (digits - 1 - k);
  for (std::size_t i = 0; i < primitives.size(); ++i) all[i + 1] = columns_of(primitives[i]);
  return all;
}

constexpr std::array<Columns, QuasiRandom::dimensions> columns = all_columns();

}  // namespace

QuasiRandom::QuasiRandom(std::uint64_t seed, std::uint64_t stream) {
  const Random random(seed, stream);
  for (std::size_t i = 0; i < shift_.size(); ++i) shift_[i] = static_cast<std::uint32_t>(random.bits(i) >> 32U);
}

double QuasiRandom::uniform(Index dimension, std::uint32_t index) const {
  std::uint32_t point = shift_[usize(dimension)];
  const Columns& v = columns[usize(dimension)];
  for (std::size_t k = 0; index != 0; ++k, index >>= 1U) {
    if ((index & 1U) != 0) point ^= v[k];
  }
  return (static_cast<double>(point) + 0.5) * 0x1p-32;
}

double QuasiRandom::normal(Index dimension, std::uint32_t index) const {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * uniform(dimension, index));
}

}  // namespace widelimit
