#include "widelimit/certificate/convex/entry_change.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace widelimit {

namespace {

/// One sample beside one ball.
class ChangeEnclosure {
 public:
  ChangeEnclosure(const Chain& chain, Kind kind, const LiftedBall& ball, const TurnedSample& sample)
      : chain_(chain), kind_(kind), ball_(ball), sample_(sample) {}

  [[nodiscard]] EntryChange change(bool biased) const {
    const EnclosedEntry whole = entry_of(ball_.norm, sample_.rho, false);
    EntryChange change{.other = whole.other, .anywhere = whole.value};
    if (!sample_.turns) return change;
    if (biased) {
      const std::optional<Interval> slopes = norm_slopes();
      if (!slopes) return change;
      change.by_norm = *slopes;
    }
    sample_.rho.low >= 0 ? bend(change) : pass_stages(change);
    return change;
  }

 private:
  [[nodiscard]] EnclosedEntry entry_of(const Interval& norm, const Interval& rho, bool sloped) const {
    return enclose_entry(chain_, kind_, ball_.pair(sample_, norm, rho), sloped);
  }

  /// Cell by cell, since intervals forget that numbers of one x move together. Nothing where a cell has no slopes.
  [[nodiscard]] std::optional<Interval> norm_slopes() const {
    constexpr int cells = 3;
    const auto cell = [](const Interval& range, int k) {
      const auto end = [&](int j) { return j == cells ? range.high : range.low + range.width() * j / cells; };
      return Interval{end(k), end(k + 1)};
    };
    std::optional<Interval> slopes;
    for (int k = 0; k < cells * cells; ++k) {
      const EnclosedEntry entry = entry_of(cell(ball_.norm, k / cells), cell(sample_.rho, k % cells), true);
      if (!entry.sloped) return std::nullopt;
      slopes = slopes ? hull(*slopes, entry.by_norm) : entry.by_norm;
    }
    return slopes;
  }

  /// For ρ ≥ 0 the value is a power series in ρ without negative coefficients, so that its second divided differences
  /// at ρ₀, ρ₀ and ρ are not negative and grow with ρ. They are finite where the slope is not.
  void bend(EntryChange& change) const {
    const EnclosedEntry start = entry_of(ball_.start, sample_.start, true);
    if (!start.sloped) return;
    change.start = start.value;
    change.slope = start.by_rho;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto difference = [&](double rho) {
      const Interval step = Interval::of(rho) - sample_.start;
      if (step.low <= 0 && step.high >= 0) return Interval{-infinite, infinite};
      const Interval chord = (entry_of(ball_.start, Interval::of(rho), false).value - start.value) / step;
      return (chord - start.by_rho) / step;
    };
    if (sample_.rho.low < sample_.start.low) {
      change.curvature.low = std::max(0.0, difference(sample_.rho.low).low);
    }
    if (sample_.rho.high > sample_.start.high) change.curvature.high = difference(sample_.rho.high).high;
    change.sloped = finite(change.slope) && finite(change.curvature) && change.curvature.high >= change.curvature.low;
  }

  /// Else the slope is the mean of a few enclosures, each of a longer part of the way.
  void pass_stages(EntryChange& change) const {
    constexpr int stages = 4;
    change.start = entry_of(ball_.start, sample_.start, false).value;
    for (int k = 1; k <= stages; ++k) {
      const double t = static_cast<double>(k) / stages;
      const Interval rho = Interval::of(1 - t) * sample_.start + Interval::of(t) * sample_.rho;
      const EnclosedEntry stage = entry_of(ball_.start, rho, true);
      if (!stage.sloped) return;
      change.slope = change.slope + Interval::of(1.0 / stages) * stage.by_rho;
    }
    change.sloped = true;
  }

  const Chain& chain_;
  Kind kind_;
  const LiftedBall& ball_;
  const TurnedSample& sample_;
};

}  // namespace

EntryChange enclose_change(const Chain& chain, Kind kind, bool biased, const LiftedBall& ball,
                           const TurnedSample& sample) {
  return ChangeEnclosure(chain, kind, ball, sample).change(biased);
}

}  // namespace widelimit
