#include "widelimit/kernel/label_aware/hadamard_sketch.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::uint64_t sign_stream = 0x7369676e;
constexpr std::uint64_t place_stream = 0x706c616365;
constexpr std::uint64_t value_stream = 0x76616c7565;

/// Entries transformed while they are in the cache.
constexpr Index cached = Index{1} << 13;

/// (v, w) ← (v + w, v − w).
void butterflies(double* v, double* w, Index size) {
  for (Index k = 0; k < size; ++k) {
    const double sum = v[k] + w[k];
    w[k] = v[k] - w[k];
    v[k] = sum;
  }
}

/// v = H v, without the factor 1/√size; recursive on halves, so that large vectors pass through memory only a few
/// times.
void walsh_hadamard(double* v, Index size) {
  if (size > cached) {
    walsh_hadamard(v, size / 2);
    walsh_hadamard(v + size / 2, size / 2);
    butterflies(v, v + size / 2, size / 2);
    return;
  }
  interruption_point();
  for (Index half = 1; half < size; half *= 2) {
    for (Index begin = 0; begin < size; begin += 2 * half) butterflies(v + begin, v + begin + half, half);
  }
}

}  // namespace

HadamardSketch::HadamardSketch(Index length, Index rows, double density, Index columns, std::uint64_t seed,
                               Index most_block)
    : length_(length), seed_(seed), result_(columns, rows) {
  const std::uint64_t padded = std::bit_ceil(static_cast<std::uint64_t>(std::max<Index>(1, length)));
  block_ = std::min(most_block, static_cast<Index>(padded));
  const Random places(seed, place_stream);
  const Random values(seed, value_stream);
  const double miss = density < 1 ? std::log1p(-density) : 0;
  std::uint64_t drawn = 0;
  for (Index row = 0; row < rows; ++row) {
    // Gaps between non-zero entries of a row are geometric.
    for (double place = -1;;) {
      place += density < 1 ? 1 + std::floor(std::log(places.uniform(drawn)) / miss) : 1;
      if (place >= static_cast<double>(padded)) {
        ++drawn;
        break;
      }
      const auto at = static_cast<std::uint64_t>(place);
      const auto size = static_cast<std::uint64_t>(block_);
      projection_.push_back(
          {at / size, static_cast<std::uint32_t>(at % size), static_cast<std::uint32_t>(row), values.normal(drawn)});
      ++drawn;
    }
  }
}

void HadamardSketch::add(Index s, Index column, double* entries) {
  const Random signs(seed_, sign_stream);
  const auto first = static_cast<std::uint64_t>(s * block_);
  std::uint64_t bits = 0;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(block_); ++k) {
    const std::uint64_t at = first + k;
    if (k == 0 || at % 64 == 0) bits = signs.bits(at / 64);
    if ((bits >> (at % 64) & 1) != 0) entries[k] = -entries[k];
  }
  walsh_hadamard(entries, block_);
  double* to = result_.view().row(column);
  const auto block = static_cast<std::uint64_t>(s);
  for (const Entry& entry : projection_) {
    const double term = entry.value * entries[entry.place];
    to[entry.row] += (std::popcount(entry.block & block) & 1) != 0 ? -term : term;
  }
}

}  // namespace widelimit
