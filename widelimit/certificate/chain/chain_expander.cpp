#include "widelimit/base/types.hpp"
#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/chain/chain_enclosure.hpp"
#include "widelimit/certificate/convex/expansion_bound.hpp"
#include "widelimit/certificate/convex/lifted_ball.hpp"
#include "widelimit/certificate/interval/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

namespace {

/// How the value of an entry (EnclosedEntry) changes from the centre c to any x of a ball, Δ for what is at x less what
/// is at c:
///   Δvalue = (slope + curvature·Δρ)·Δρ + by_norm·Δ(log ‖x̃‖), each number somewhere in its interval.
struct EntryChange {
  Deviation other;    ///< the factor of the sample
  Interval start;     ///< value at c
  Interval anywhere;  ///< value on the ball
  Interval slope, curvature, by_norm;
  bool sloped = false;  ///< else only `anywhere` is known
};

/// One sample beside one ball.
class ChangeEnclosure {
 public:
  ChangeEnclosure(const Chain& chain, Kind kind, const LiftedBall& ball, const SampleCosine& sample)
      : chain_(chain), kind_(kind), ball_(ball), sample_(sample) {}

  [[nodiscard]] EntryChange change(bool biased) const {
    const EnclosedEntry whole = entry_of(ball_.norm, sample_.rho, false);
    EntryChange change{.other = whole.other, .anywhere = whole.value};
    if (!sample_.has_cosine) return change;
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
  const SampleCosine& sample_;
};

/// First ρ changes and then ‖x̃‖. `biased` says whether values depend on ‖x̃‖: not without biases after the first layer.
EntryChange enclose_change(const Chain& chain, Kind kind, bool biased, const LiftedBall& ball,
                           const SampleCosine& sample) {
  return ChangeEnclosure(chain, kind, ball, sample).change(biased);
}

/// Σ wᵢ·xᵢ of intervals w, feature by feature: middles, and what is between them and the truth.
class SlopeSum {
 public:
  SlopeSum(Index features, Index terms)
      : error_(static_cast<double>(terms + 4) * 0x1p-52),
        least_(2 * static_cast<double>(terms) * std::numeric_limits<double>::min()),
        middle_(usize(features)),
        reach_(usize(features)) {}

  void add(const Interval& weight, const double* row) {
    const double middle = weight.middle();
    const double widened = (weight.radius() + error_ * std::abs(middle)) * (1 + 0x1p-50);
    for (std::size_t j = 0; j < middle_.size(); ++j) {
      middle_[j] += middle * row[j];
      reach_[j] += widened * std::abs(row[j]);
    }
  }
  /// A sum of n products is off by (n + 1)·2⁻⁵³ of those of absolute values at most, and by underflow.
  [[nodiscard]] Interval feature(Index j) const {
    const double reach = reach_[usize(j)] * (1 + 2 * error_) + least_;
    return outward(below(middle_[usize(j)] - reach), above(middle_[usize(j)] + reach));
  }

 private:
  double error_, least_;
  std::vector<double> middle_, reach_;
};

/// Sums over the samples of an expansion.
struct ChainSums {
  Interval level = Interval::of(0);    ///< H₀ = Σ β·other·value of samples with slopes
  Interval rest = Interval::of(0);     ///< the same of the others, anywhere on the ball
  Interval stretch = Interval::of(0);  ///< Υ = Σ β·other·by_norm
  Interval turn = Interval::of(0);     ///< Σ mρ₀
  Interval error = Interval::of(0);
};

/// With n = ‖x̃‖ and f = √q·H + b (q the variance after the last layer):  [docs/theory/certificates-proof.md#biases]
///   n·H ≥ n·(H₀ + rest) + ⟨z, Σ m xᵢ/‖x̃ᵢ‖⟩ + (λΥ − Σ mρ₀)(n − ‖c̃‖) + Σ (β·other·curvature/n)·e²,  m = β·other·slope,
/// with λ = n·(log n − log ‖c̃‖)/(n − ‖c̃‖) between 1 and n/‖c̃‖: an Expansion of f·n/√q.
class ChainExpander final : public Expander {
 public:
  explicit ChainExpander(const ChainProblem& problem)
      : problem_(problem),
        ranges_(problem.geometry, problem.points, problem.options),
        functionals_(problem),
        directions_(problem.geometry.support, lifted_factors(problem)),
        biased_(biased_later(problem.chain)) {}

  [[nodiscard]] ConvexParts parts() const override { return {ranges_, directions_, problem_.options.norm == Norm::l2}; }

  [[nodiscard]] std::unique_ptr<BallExpander> around(const Ball& ball) const override {
    return std::make_unique<Around>(*this, ball);
  }

 private:
  /// Samples beside one ball, whatever the functional.
  class Around final : public BallExpander {
   public:
    Around(const ChainExpander& machine, const Ball& ball)
        : machine_(machine), ball_(lift_ball(machine.problem_, machine.ranges_, ball)) {
      const ChainProblem& problem = machine.problem_;
      if (!(ball_.norm.low > 0x1p-20 * ball_.norm.high)) return;
      for (const SampleCosine& sample : ball_.samples) {
        changes_.push_back(enclose_change(problem.chain, problem.kind, machine.biased_, ball_, sample));
      }
    }
    [[nodiscard]] Expansion expand(const Functional& functional) const override {
      return changes_.empty() ? Expansion{} : machine_.expand(functional, ball_, changes_);
    }

   private:
    const ChainExpander& machine_;
    LiftedBall ball_;
    std::vector<EntryChange> changes_;  ///< none where the ball holds or nearly holds the origin
  };

  [[nodiscard]] Expansion expand(const Functional& functional, const LiftedBall& ball,
                                 std::span<const EntryChange> changes) const {
    const ChainWeights& weights = functionals_.of(functional);
    Expansion result{.exponent = weights.exponent};
    place(ball, result);
    SlopeSum slopes(problem_.support.cols, problem_.support.rows);
    const ChainSums sums = add_samples(weights, ball, changes, slopes, result);
    add_slopes(ball, slopes, sums, result);
    set_scale(weights, ball, sums, result);
    result.bounded = result.least_scale > 0 && std::isfinite(result.error) && std::isfinite(result.constant);
    return result;
  }

  static bool biased_later(const Chain& chain) {
    const auto later = std::span(chain.layers).subspan(std::min<std::size_t>(1, chain.layers.size()));
    return std::any_of(later.begin(), later.end(), [](const ChainLayer& layer) { return layer.b_std != 0; });
  }
  /// ‖xᵢ‖/‖x̃ᵢ‖.
  static std::vector<double> lifted_factors(const ChainProblem& problem) {
    const double lift = lifted_coordinate(problem.chain).low;
    std::vector<double> factors;
    for (Index i = 0; i < problem.support.rows; ++i) {
      const double norm = problem.geometry.support.norms[usize(i)];
      factors.push_back(norm > 0 ? norm / std::hypot(norm, std::ldexp(lift, -problem.row_exponent(i))) : 0);
    }
    return factors;
  }

  /// What computed directions are off by, for a step of length 1.
  [[nodiscard]] double direction_error() const { return 4 * ranges_.norm_error() + 32 * 0x1p-53; }
  /// |⟨c,z⟩/‖c̃‖ + v| is not larger.
  static double longest(const LiftedBall& ball) { return above(ball.step + ball.bulge); }

  void place(const LiftedBall& ball, Expansion& result) const {
    result.centre = ball.centre;
    result.centre_norm = ball.start.middle();
    for (const double x : ball.centre) result.direction.push_back(x / result.centre_norm);
    const double rest = directions_.rest_length(result.direction);
    result.unit = directions_.keep(result.direction, rest);
    result.half = directions_.keep(ball.half, directions_.rest_half(result.direction, ball.half, rest));
    result.nu = ball.bulge * (1 + 0x1p-48);
  }

  [[nodiscard]] ChainSums add_samples(const ChainWeights& weights, const LiftedBall& ball,
                                      std::span<const EntryChange> changes, SlopeSum& slopes, Expansion& result) const {
    const std::vector<int>& units = functionals_.deviations().sample;
    ChainSums sums;
    for (Index i = 0; i < std::ssize(changes); ++i) {
      const SampleCosine& sample = ball.samples[usize(i)];
      const EntryChange& change = changes[usize(i)];
      const bool entry = units[usize(i)] != EntryExponents::no_entry;
      const Interval weight =
          entry ? weights.beta[usize(i)] * change.other.in_units_of(units[usize(i)]) : Interval::of(0);
      result.u.push_back(sample.start.middle());
      const double off = longest(ball) * (direction_error() + sample.start.width());
      const double reach = result.reach.emplace_back(above(sample.reach + off));
      result.w.push_back(0);
      if (!change.sloped) {
        sums.rest = sums.rest + weight * change.anywhere;
        continue;
      }
      const double w = result.w.back() = (weight * change.curvature / ball.norm).low;
      const Interval slope = weight * change.slope, m = Interval::of(slope.middle());
      sums.level = sums.level + weight * change.start;
      sums.stretch = sums.stretch + weight * change.by_norm;
      sums.turn = sums.turn + m * sample.start;
      slopes.add(m / sample.norm, problem_.support.row(i));
      const Interval square = Interval::of(std::abs(w)) * Interval::of(3) * Interval::of(reach) * Interval::of(off);
      sums.error = sums.error + Interval::of(slope.radius()) * Interval::of(reach) + square;
    }
    return sums;
  }

  void add_slopes(const LiftedBall& ball, const SlopeSum& slopes, const ChainSums& sums, Expansion& result) const {
    const Interval rise = sums.level + ball.norm / ball.start * sums.stretch - sums.turn;
    result.rise = rise.middle();
    std::vector<double> gradient;
    Interval error = sums.error;
    for (Index j = 0; j < std::ssize(ball.half); ++j) {
      const Interval slope = slopes.feature(j);
      gradient.push_back(slope.middle());
      error = error + Interval::of(slope.radius()) * Interval::of(ball.half[usize(j)]);
    }
    result.gradient = directions_.keep(gradient, 0);
    for (std::size_t j = 0; j < result.gradient.size(); ++j) {
      result.gradient[j] += result.rise * result.unit[j];
      error = error + Interval::of(0x1p-50 * std::abs(result.gradient[j])) * Interval::of(result.half[j]);
    }
    const double off = rise.radius() + 2 * direction_error() * std::abs(result.rise);
    result.error = (error + Interval::of(off) * Interval::of(longest(ball))).high * (1 + 0x1p-40);
  }

  /// √q/n falls with n: q = A·n² + B.
  void set_scale(const ChainWeights& weights, const LiftedBall& ball, const ChainSums& sums, Expansion& result) const {
    const auto at_norm = [&](double norm) {
      const SampleCosine& any = ball.samples.front();
      const Interval point = Interval::of(norm);
      const EnclosedEntry entry = enclose_entry(problem_.chain, problem_.kind, ball.pair(any, point, any.rho), false);
      return entry.scale.in_units_of(functionals_.deviations().point) / point;
    };
    const Interval scale{at_norm(ball.norm.high).low, at_norm(ball.norm.low).high};
    result.least_scale = scale.low;
    result.largest_scale = scale.high;
    result.constant = (ball.start * sums.level + ball.norm * sums.rest + weights.offset / scale).low;
  }

  const ChainProblem& problem_;
  Ranges ranges_;
  ChainFunctionals functionals_;
  ReducedDirections directions_;
  bool biased_;
};

}  // namespace

std::unique_ptr<LowerBound> make_chain_convex_bound(const ChainProblem& problem) {
  return make_expansion_bound(std::make_unique<ChainExpander>(problem), problem.functionals, problem.engine);
}

}  // namespace widelimit
