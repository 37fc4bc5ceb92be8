#pragma once

#include "widelimit/engine/enclosure/lifted.hpp"

#include <cstdint>
#include <limits>

/// Change of kernel entries of chains over a ball.                        [docs/theory/certificates-proof.md#biases]
namespace widelimit {

/// Enclosure of the change of an entry (EnclosedEntry) from the centre c to any x of a ball, with Δ = value at x minus
/// value at c:
///   Δvalue = (slope + curvature·Δρ)·Δρ + by_norm·Δ(log ‖x̃‖),
/// for some numbers in the respective intervals.
struct EntryChange {
  Deviation other;    ///< factor that depends on the sample
  Interval start;     ///< value at c
  Interval anywhere;  ///< value over the ball
  Interval slope, curvature, by_norm;
  Interval cosine;   ///< ρ₀
  double reach = 0;  ///< SampleCosine::reach
  /// Nonzero if the members beyond `anywhere` are valid. As wide as a double, so that a device writes every byte.
  std::int64_t sloped = 0;
};

/// Encloses the entry of one sample and one ball.
class ChangeEnclosure {
 public:
  WIDELIMIT_BOTH ChangeEnclosure(const ChainView& chain, const LiftedRange& ball, const LiftedSample& sample,
                                 const SampleCosine& cosine)
      : chain_(chain), ball_(ball), sample_(sample), cosine_(cosine) {}

  /// Changes ρ first and ‖x̃‖ second. `biased`: values depend on ‖x̃‖, i.e. there are biases after the first layer.
  [[nodiscard]] WIDELIMIT_BOTH EntryChange change(bool biased) const {
    const EnclosedEntry whole = entry_of(ball_.norm, cosine_.rho, false);
    EntryChange change;
    change.other = whole.other;
    change.anywhere = whole.value;
    change.cosine = cosine_.start;
    change.reach = cosine_.reach;
    if (!cosine_.has_cosine) return change;
    if (biased && !find_norm_slopes(change.by_norm)) return change;
    cosine_.rho.low >= 0 ? bend(change) : pass_stages(change);
    return change;
  }

 private:
  /// noinline keeps a single copy of the layers in device code for about fifteen calls.
  [[nodiscard]] [[gnu::noinline]] WIDELIMIT_BOTH EnclosedEntry entry_of(const Interval& norm, const Interval& rho,
                                                                        bool sloped) const {
    return enclose_entry(chain_, pair_of(ball_, sample_, norm, rho), sloped);
  }

  /// Encloses on a grid of cells, since interval arithmetic loses the dependence between numbers of the same x. Returns
  /// false if a cell has no slopes.
  [[nodiscard]] WIDELIMIT_BOTH bool find_norm_slopes(Interval& slopes) const {
    constexpr int cells = 3;
    const auto cell = [](const Interval& range, int k) {
      const auto end = [&](int j) { return j == cells ? range.high : range.low + range.width() * j / cells; };
      return Interval{end(k), end(k + 1)};
    };
    for (int k = 0; k < cells * cells; ++k) {
      const EnclosedEntry entry = entry_of(cell(ball_.norm, k / cells), cell(cosine_.rho, k % cells), true);
      if (!entry.sloped) return false;
      slopes = k > 0 ? hull(slopes, entry.by_norm) : entry.by_norm;
    }
    return true;
  }

  /// For ρ ≥ 0 the value is a power series in ρ with nonnegative coefficients, so its second divided differences at ρ₀,
  /// ρ₀ and ρ are nonnegative and increase with ρ. They are finite even where the slope at ρ is not.
  WIDELIMIT_BOTH void bend(EntryChange& change) const {
    const EnclosedEntry start = entry_of(ball_.start, cosine_.start, true);
    if (!start.sloped) return;
    change.start = start.value;
    change.slope = start.by_rho;
    if (cosine_.rho.low < cosine_.start.low) {
      change.curvature.low = std::max(0.0, divided_difference(start, cosine_.rho.low).low);
    }
    if (cosine_.rho.high > cosine_.start.high) {
      change.curvature.high = divided_difference(start, cosine_.rho.high).high;
    }
    const bool bends = change.curvature.high >= change.curvature.low;
    change.sloped = finite(change.slope) && finite(change.curvature) && bends ? 1 : 0;
  }

  [[nodiscard]] WIDELIMIT_BOTH Interval divided_difference(const EnclosedEntry& start, double rho) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const Interval step = Interval::of(rho) - cosine_.start;
    if (step.low <= 0 && step.high >= 0) return {-infinite, infinite};
    const Interval chord = (entry_of(ball_.start, Interval::of(rho), false).value - start.value) / step;
    return (chord - start.by_rho) / step;
  }

  /// Otherwise averages the slope over several enclosures, each over a longer part of the segment.
  WIDELIMIT_BOTH void pass_stages(EntryChange& change) const {
    constexpr int stages = 4;
    change.start = entry_of(ball_.start, cosine_.start, false).value;
    for (int k = 1; k <= stages; ++k) {
      const double t = static_cast<double>(k) / stages;
      const Interval rho = Interval::of(1 - t) * cosine_.start + Interval::of(t) * cosine_.rho;
      const EnclosedEntry stage = entry_of(ball_.start, rho, true);
      if (!stage.sloped) return;
      change.slope = change.slope + Interval::of(1.0 / stages) * stage.by_rho;
    }
    change.sloped = 1;
  }

  const ChainView& chain_;
  const LiftedRange& ball_;
  const LiftedSample& sample_;
  const SampleCosine& cosine_;
};

}  // namespace widelimit
