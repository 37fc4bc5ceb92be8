#pragma once

#include "widelimit/certificate/ranges.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// What is known of one ball: N, and a = ⟨x, xᵢ⟩/‖xᵢ‖ for each training sample.
struct RangeRow {
  NormRange norm;
  const double* low = nullptr;
  const double* high = nullptr;
};

/// Arrays of one thread, kept between calls.
struct SideScratch {
  std::vector<double> u, factor, value, other, side;
  std::vector<std::int32_t> turned;
  void resize(std::size_t size);
};

/// Bounds of H(a, N) = N·κ(a/N) over ranges, where a kernel entry is scale·‖xᵢ‖·H. Each may be off by
/// norm.high·(value_error + 16·2⁻⁵³·κ(1)), which whoever adds them up subtracts.
class KernelSides {
 public:
  virtual ~KernelSides() = default;
  /// to[k] ≤ H for the samples which[k]; at most `strip` of them.
  virtual void low(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch,
                   double* to) const = 0;
  /// to[k] ≥ H.
  virtual void high(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch,
                    double* to) const = 0;

  /// Samples at a time: arrays of this length stay in the first-level cache.
  static constexpr Index strip = 512;
};

/// a/N moved down or up by more than rounding, and into [−1, 1]; 0 where N is 0, and a with it.
[[nodiscard]] inline double ratio_below(double a, double norm) {
  const double u = norm > 0 ? a / norm : 0;
  const double moved = u > 0 ? u * (1 - 0x1p-51) : u * (1 + 0x1p-51);
  return moved < -1 ? -1 : (moved > 1 ? 1 : moved);
}
[[nodiscard]] inline double ratio_above(double a, double norm) { return -ratio_below(-a, norm); }

}  // namespace widelimit
