#pragma once

#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// What is known of one ball: N, and a = ⟨x, xᵢ⟩/‖xᵢ‖ for some training samples.
struct RangeStrip {
  Interval norm;
  Index count = 0;
  const double* low = nullptr;
  const double* high = nullptr;
  const double* weight = nullptr;  ///< null where all are of one sign, which the caller knows
};

/// Arrays of one thread, kept between calls.
struct EntryScratch {
  std::vector<double> low, high, u, factor, value, other, part;
  std::vector<std::int32_t> turned, chosen;
  void resize(std::size_t size);
};

/// Bounds of H(a, N) = N·κ(a/N) over ranges, where a kernel entry is scale·‖xᵢ‖·H. Each may be off by
/// norm.high·(value_error + 16·2⁻⁵³·κ(1)), which the caller subtracts from the sum.
class EntryBounds {
 public:
  virtual ~EntryBounds() = default;
  /// to[k] ≤ H, for at most `longest` samples.
  virtual void low(const RangeStrip& strip, EntryScratch& scratch, double* to) const = 0;
  /// to[k] ≥ H.
  virtual void high(const RangeStrip& strip, EntryScratch& scratch, double* to) const = 0;

  /// The one where the weight is positive, the other elsewhere.
  virtual void bound(const RangeStrip& strip, EntryScratch& scratch, double* to) const;

  /// The same of ranges that are not there yet. False where they have to be.
  [[nodiscard]] virtual bool bound_around(const Interval& norm, const host::ConeSpread& spread, Index count,
                                          const double* weight, double* to) const;

  /// Samples at a time: arrays of this length stay in the first-level cache.
  static constexpr Index longest = 512;

 protected:
  /// `bound` of the samples with a_low < 0 alone, or of all: picked by sign, and put back.
  void bound_apart(const RangeStrip& strip, bool negative_only, EntryScratch& scratch, double* to) const;
};

/// a/N moved down or up by more than rounding, also that of 1/N, and into [−1, 1].
[[nodiscard]] inline double ratio_below(double a, double inverse) {
  const double u = a * inverse;
  const double moved = u > 0 ? u * (1 - 0x1p-50) : u * (1 + 0x1p-50);
  const double capped = moved < 1 ? moved : 1;
  return capped > -1 ? capped : -1;
}
[[nodiscard]] inline double ratio_above(double a, double inverse) { return -ratio_below(-a, inverse); }
/// 1/N, and a number of which a multiple is 0 or far beyond 1 where N is 0.
[[nodiscard]] inline double inverse_of(double norm) { return 1 / (norm > 1e-300 ? norm : 1e-300); }

/// EQ Theorem 4.2: a, N and u = a/N each in a range of its own, H between the products of the ends. Published for the
/// two-layer network; κ grows right of its lowest place and falls left of it whatever the depth.
class PaperEntryBounds final : public EntryBounds {
 public:
  /// The kernel must be convex().
  explicit PaperEntryBounds(const ConeKernel& kernel) : kernel_(kernel) {}
  void low(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  void high(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;

 private:
  const ConeKernel& kernel_;
};

/// Exact ranges of H over [a]×[N] ∩ {|a| ≤ N}, which convexity of κ gives: H is its perspective, hence convex.
class IntervalEntryBounds final : public EntryBounds {
 public:
  /// The kernel must be convex().
  explicit IntervalEntryBounds(const ConeKernel& kernel) : kernel_(kernel) {}
  void low(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  void high(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  void bound(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  /// Where no a may be negative.
  [[nodiscard]] bool bound_around(const Interval& norm, const host::ConeSpread& spread, Index count,
                                  const double* weight, double* to) const override;

 private:
  [[nodiscard]] host::ConeEdges edges(const Interval& norm) const;
  void high_on_the_left(const RangeStrip& strip, EntryScratch& scratch, Index turned, double* to) const;

  const ConeKernel& kernel_;
};

}  // namespace widelimit
