#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/chain_bound.hpp"
#include "widelimit/certificate/lifted_ball.hpp"
#include "widelimit/certificate/side_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace widelimit {

namespace {

/// How the value of an entry (EnclosedEntry) changes from the centre c to any x of a ball, Δ for what is at x less what
/// is at c:
///   Δvalue = by_rho·Δρ + by_norm·Δ‖x̃‖, the slopes somewhere in their intervals.
struct EntryChange {
  Interval other;     ///< the factor of the sample
  Interval start;     ///< value at c
  Interval anywhere;  ///< value on the ball
  Interval by_rho, by_norm;
  Interval tangent;     ///< by_rho at c, where `convex`
  bool convex = false;  ///< by_rho grows with ρ
  bool sloped = false;  ///< else only `anywhere` is known
};

/// Every (1−t)·a + t·b.
Interval between(const Interval& a, const Interval& b, double t) {
  return Interval::of(1 - t) * a + Interval::of(t) * b;
}

/// Σ wᵢ·xᵢ of intervals w, feature by feature: middles, and what is between them and the truth.
class SlopeSum {
 public:
  SlopeSum(Index features, Index terms)
      : error_(static_cast<double>(terms + 4) * 0x1p-52),
        least_(static_cast<double>(terms) * std::numeric_limits<double>::min()),
        middle_(at(features)),
        reach_(at(features)) {}

  void add(const Interval& weight, const double* row) {
    const double middle = weight.low + (weight.high - weight.low) / 2;
    const double reach = above(std::max(above(weight.high - middle), above(middle - weight.low)));
    const double widened = (reach + error_ * std::abs(middle)) * (1 + 0x1p-50);
    for (std::size_t j = 0; j < middle_.size(); ++j) {
      middle_[j] += middle * row[j];
      reach_[j] += widened * std::abs(row[j]);
    }
  }
  /// A sum of n products is off by (n + 1)·2⁻⁵³ of those of absolute values at most, and by underflow.
  [[nodiscard]] Interval feature(Index j) const {
    const double reach = reach_[at(j)] * (1 + 2 * error_) + least_;
    return outward(below(middle_[at(j)] - reach), above(middle_[at(j)] + reach));
  }

 private:
  double error_, least_;
  std::vector<double> middle_, reach_;
};

/// [docs/theory/certificates.md#biases]
class ChainSlopeBound final : public LowerBound {
 public:
  explicit ChainSlopeBound(const ChainProblem& problem)
      : problem_(problem),
        ranges_(problem.geometry, problem.points, problem.options),
        biased_later_(std::any_of(problem.chain.layers.begin() + 1, problem.chain.layers.end(),
                                  [](const ChainLayer& layer) { return layer.b_std != 0; })) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(problem_.functionals, queries);
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(groups.balls), team_size(problem_.options.threads), [&](Index k) {
      const LiftedBall ball = lift_ball(problem_, ranges_, groups.balls[at(k)]);
      const std::vector<EntryChange> changes = enclose_changes(ball);
      for (Index q = groups.first[at(k)]; q < groups.first[at(k + 1)]; ++q) {
        const double bound = lowest(problem_.functionals[at(queries[at(q)].functional)], ball, changes);
        bounds[at(q)] = std::isfinite(bound) ? bound : -std::numeric_limits<double>::infinity();
      }
    });
    return bounds;
  }

 private:
  /// Where nothing is known of their growth, slopes are means of as many enclosures, each of a longer part of the way.
  static constexpr int stages = 4;

  [[nodiscard]] EnclosedEntry entry_of(const Interval& norm, const TurnedSample& sample, const Interval& rho,
                                       bool sloped = true) const {
    return enclose_entry(problem_.chain, problem_.kind, {norm, sample.norm, rho}, sloped);
  }

  [[nodiscard]] std::vector<EntryChange> enclose_changes(const LiftedBall& ball) const {
    std::vector<EntryChange> changes;
    for (const TurnedSample& sample : ball.samples) changes.push_back(enclose_change(ball, sample));
    return changes;
  }

  /// First ρ changes and then ‖x̃‖.
  [[nodiscard]] EntryChange enclose_change(const LiftedBall& ball, const TurnedSample& sample) const {
    const EnclosedEntry whole = entry_of(ball.norm, sample, sample.rho, false);
    EntryChange change{.other = whole.other, .anywhere = whole.value};
    if (!sample.turns) return change;
    if (biased_later_) {
      const std::optional<Interval> slopes = norm_slopes(ball, sample);
      if (!slopes) return change;
      change.by_norm = *slopes;
    }
    const EnclosedEntry start = entry_of(ball.start, sample, sample.start);
    change.start = start.value;
    if (sample.rho.low >= 0) {
      enclose_chords(ball.start, sample, start, change);
    } else {
      enclose_stages(ball.start, sample, change);
    }
    return change;
  }

  /// Cell by cell, since intervals forget that numbers of one x move together. Nothing where a cell has no slopes.
  [[nodiscard]] std::optional<Interval> norm_slopes(const LiftedBall& ball, const TurnedSample& sample) const {
    constexpr int cells = 3;
    const auto cell = [](const Interval& range, int k) {
      const auto end = [&](int j) { return j == cells ? range.high : range.low + range.width() * j / cells; };
      return Interval{end(k), end(k + 1)};
    };
    std::optional<Interval> slopes;
    for (int k = 0; k < cells * cells; ++k) {
      const Interval norm = cell(ball.norm, k / cells);
      const EnclosedEntry entry = entry_of(norm, sample, cell(sample.rho, k % cells));
      if (!entry.sloped) return std::nullopt;
      const Interval own = entry.by_norm / norm;
      slopes = slopes ? hull(*slopes, own) : own;
    }
    return slopes;
  }

  /// For ρ ≥ 0 the value is a power series in ρ without negative coefficients: convex, its chords from ρ₀ the steeper
  /// the farther they go, and finite where the slope is not.
  void enclose_chords(const Interval& norm, const TurnedSample& sample, const EnclosedEntry& start,
                      EntryChange& change) const {
    if (!start.sloped) return;
    const EnclosedEntry slopes = entry_of(norm, sample, sample.rho);
    constexpr double infinite = std::numeric_limits<double>::infinity();
    change.by_rho = slopes.sloped ? slopes.by_rho : Interval{-infinite, infinite};
    const auto chord_to = [&](double rho) {
      return (entry_of(norm, sample, Interval::of(rho), false).value - start.value) /
             (Interval::of(rho) - sample.start);
    };
    if (sample.rho.low < sample.start.low) {
      change.by_rho.low = std::max(change.by_rho.low, chord_to(sample.rho.low).low);
    }
    if (sample.rho.high > sample.start.high) {
      change.by_rho.high = std::min(change.by_rho.high, chord_to(sample.rho.high).high);
    }
    change.tangent = start.by_rho;
    change.convex = true;
    change.sloped = finite(change.by_rho);
  }

  void enclose_stages(const Interval& norm, const TurnedSample& sample, EntryChange& change) const {
    for (int k = 1; k <= stages; ++k) {
      const double t = static_cast<double>(k) / stages;
      const EnclosedEntry stage = entry_of(norm, sample, between(sample.start, sample.rho, t));
      if (!stage.sloped) return;
      change.by_rho = change.by_rho + Interval::of(1.0 / stages) * stage.by_rho;
    }
    change.sloped = true;
  }

  /// f = scale·H + b,  H − H₀ = (Σ γe + ‖x̃‖·Υ·Δ‖x̃‖)/‖x̃‖,  γ = β·other·by_rho,  Υ = Σ β·other·by_norm; with any m
  /// this is, but for Σ (γ − m)e ≥ −Σ |γ − m|·reach,
  ///   (⟨z, Σ m xᵢ/‖x̃ᵢ‖ + κc/‖c̃‖⟩ + κv)/‖x̃‖,   κ = ‖x̃‖Υ − Σ mρ₀.
  /// m is the slope at c where slopes grow with ρ: of samples with β ≥ 0 then (γ − m)e ≥ 0.
  [[nodiscard]] double lowest(const Functional& f, const LiftedBall& ball,
                              const std::vector<EntryChange>& changes) const {
    Interval h = Interval::of(0), upsilon = h, kappa = h, doubt = h;
    SlopeSum slope(problem_.support.cols, problem_.support.rows);
    for (Index i = 0; i < std::ssize(changes); ++i) {
      const EntryChange& change = changes[at(i)];
      const TurnedSample& sample = ball.samples[at(i)];
      const Interval weight = problem_.weight(f, i) * change.other;
      h = h + weight * (change.sloped ? change.start : change.anywhere);
      if (!change.sloped) continue;
      const Interval gamma = weight * change.by_rho, tangent = change.convex ? weight * change.tangent : gamma;
      const Interval middle = Interval::of(tangent.low + (tangent.high - tangent.low) / 2);
      const Interval off = (change.convex && weight.low >= 0 ? tangent : gamma) - middle;
      doubt = doubt + Interval::of(std::max(-off.low, off.high)) * Interval::of(sample.reach);
      upsilon = upsilon + weight * change.by_norm;
      kappa = kappa - middle * sample.start;
      slope.add(middle / sample.norm, problem_.support.row(i));
    }
    if (changes.empty()) return problem_.offset(f).low;
    kappa = kappa + ball.norm * upsilon;
    const Interval bulge = Interval::of(std::min(kappa.low, 0.0)) * Interval::of(ball.bulge);
    const double change = (bulge - doubt - largest_product(slope, kappa, ball)).low;
    const Interval least = h + Interval::of(change) / ball.norm;
    const Interval scale = entry_of(ball.norm, ball.samples[0], ball.samples[0].rho, false).scale;
    return (scale * Interval::of(least.low) + problem_.offset(f)).low;
  }

  /// |⟨z, C⟩| is no larger on the ball.
  [[nodiscard]] Interval largest_product(const SlopeSum& slope, const Interval& kappa, const LiftedBall& ball) const {
    const bool euclidean = problem_.options.norm == Norm::l2;
    Interval sum = Interval::of(0);
    for (Index j = 0; j < std::ssize(ball.half); ++j) {
      const Interval c = slope.feature(j) + kappa * Interval::of(ball.centre[at(j)]) / ball.start;
      if (!finite(c)) return Interval::of(std::numeric_limits<double>::infinity());
      const Interval steepest = Interval::of(std::max(std::abs(c.low), std::abs(c.high)));
      sum = sum + steepest * (euclidean ? steepest : Interval::of(ball.half[at(j)]));
    }
    return euclidean ? Interval::of(ball.radius) * sqrt(sum) : sum;
  }

  const ChainProblem& problem_;
  Ranges ranges_;
  bool biased_later_;  ///< else values do not depend on ‖x̃‖
};

}  // namespace

std::unique_ptr<LowerBound> make_chain_slope_bound(const ChainProblem& problem) {
  return std::make_unique<ChainSlopeBound>(problem);
}

}  // namespace widelimit
