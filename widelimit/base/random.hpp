#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace widelimit {

/// Counter-based generator: each value is a pure function of (seed, stream, index), so weights do not depend on the
/// number of threads or ranks, or on the device. Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011).
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// Four independent uniform 32-bit words.
  [[nodiscard]] std::array<std::uint32_t, 4> words(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const;
  /// Uniform on (0, 1), 53 bits.
  [[nodiscard]] double uniform(std::uint64_t index) const;
  /// Standard normal by Box–Muller; indices 2k and 2k + 1 are the two values of one draw.
  [[nodiscard]] double normal(std::uint64_t index) const;
  /// Sets to[i] = scale·normal(first + i) for i < count, and evaluates each draw once for both of its values.
  void normals(std::uint64_t first, std::ptrdiff_t count, double scale, float* to) const;
  void normals(std::uint64_t first, std::ptrdiff_t count, double scale, double* to) const;
  /// Uniform on {0, …, bound − 1}; bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound, std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace widelimit
