#pragma once

#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// The ranges of one ball: N, and a = ⟨x, xᵢ⟩/‖xᵢ‖ for a strip of training samples.
struct RangeStrip {
  Interval norm;
  Index count = 0;
  const double* low = nullptr;
  const double* high = nullptr;
  const double* weight = nullptr;  ///< null if all weights have one sign, known to the caller
};

/// Scratch buffers of one thread, reused between calls.
struct EntryScratch {
  std::vector<double> low, high, u, factor, value, other, part;
  std::vector<std::int32_t> turned, chosen;
  void resize(std::size_t size);
};

/// Bounds of H(a, N) = N·κ(a/N) over ranges; a kernel entry is scale·‖xᵢ‖·H. The error of each bound is at most
/// norm.high·(value_error + 16·2⁻⁵³·κ(1)), which the caller subtracts from the sum.
class EntryBounds {
 public:
  virtual ~EntryBounds() = default;
  /// Computes to[k] ≤ H for at most `longest` samples.
  virtual void low(const RangeStrip& strip, EntryScratch& scratch, double* to) const = 0;
  /// Computes to[k] ≥ H.
  virtual void high(const RangeStrip& strip, EntryScratch& scratch, double* to) const = 0;

  /// Computes the lower bound for positive weights and the upper bound for the others.
  virtual void bound(const RangeStrip& strip, EntryScratch& scratch, double* to) const;

  /// As `bound`, with ranges computed on the fly from `spread`. Returns false if the method needs explicit ranges.
  [[nodiscard]] virtual bool bound_around(const Interval& norm, const host::ConeSpread& spread, Index count,
                                          const double* weight, double* to) const;

  /// Maximum number of samples per strip: arrays of this length fit into the L1 cache.
  static constexpr Index longest = 512;

 protected:
  /// Computes `bound` for the samples with a_low < 0, or for all: partitions them by sign and scatters the results.
  void bound_apart(const RangeStrip& strip, bool negative_only, EntryScratch& scratch, double* to) const;
};

/// a/N moved down or up by more than the rounding error, including that of 1/N, and clamped to [−1, 1].
[[nodiscard]] inline double ratio_below(double a, double inverse) {
  const double u = a * inverse;
  const double moved = u > 0 ? u * (1 - 0x1p-50) : u * (1 + 0x1p-50);
  const double capped = moved < 1 ? moved : 1;
  return capped > -1 ? capped : -1;
}
[[nodiscard]] inline double ratio_above(double a, double inverse) { return -ratio_below(-a, inverse); }
/// 1/N, or a large number for N = 0: its multiples are 0 or far outside [−1, 1].
[[nodiscard]] inline double inverse_of(double norm) { return 1 / (norm > 1e-300 ? norm : 1e-300); }

/// EQ Theorem 4.2: a, N and u = a/N each in a separate range, H between the products of the endpoints. Published for
/// the two-layer network; at any depth κ increases right of its minimum and decreases left of it.
class PaperEntryBounds final : public EntryBounds {
 public:
  /// Requires kernel.convex().
  explicit PaperEntryBounds(const ConeKernel& kernel) : kernel_(kernel) {}
  void low(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  void high(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;

 private:
  const ConeKernel& kernel_;
};

/// Exact ranges of H over [a]×[N] ∩ {|a| ≤ N}. H is the perspective of the convex κ and therefore convex.
class IntervalEntryBounds final : public EntryBounds {
 public:
  /// Requires kernel.convex().
  explicit IntervalEntryBounds(const ConeKernel& kernel) : kernel_(kernel) {}
  void low(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  void high(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  void bound(const RangeStrip& strip, EntryScratch& scratch, double* to) const override;
  /// Supported if no a can be negative.
  [[nodiscard]] bool bound_around(const Interval& norm, const host::ConeSpread& spread, Index count,
                                  const double* weight, double* to) const override;

 private:
  [[nodiscard]] host::ConeEdges edges(const Interval& norm) const;
  void high_on_the_left(const RangeStrip& strip, EntryScratch& scratch, Index turned, double* to) const;

  const ConeKernel& kernel_;
};

}  // namespace widelimit
