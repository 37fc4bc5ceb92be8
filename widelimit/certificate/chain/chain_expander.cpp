#include "widelimit/base/types.hpp"
#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/convex/expansion_bound.hpp"
#include "widelimit/certificate/convex/lifted_ball.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/enclosure/chain_change.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace widelimit {

namespace {

/// Sums over the support for one expansion.
struct ChainSums {
  Interval level = Interval::of(0);    ///< H₀ = Σ β·other·value over samples with slopes
  Interval rest = Interval::of(0);     ///< the same over the other samples, for the whole ball
  Interval stretch = Interval::of(0);  ///< Υ = Σ β·other·by_norm
  Interval turn = Interval::of(0);     ///< Σ mρ₀
  Interval moduli = Interval::of(0);   ///< Σ |m|
  Interval error = Interval::of(0);
  std::vector<double> slopes;  ///< m, one per sample
};

/// With n = ‖x̃‖ and f = √q·H + b, where q is the variance after the last layer:
/// [docs/theory/certificates-proof.md#biases]
///   n·H ≥ n·(H₀ + rest) + ⟨z, Σ m xᵢ/‖x̃ᵢ‖⟩ + (λΥ − Σ mρ₀)(n − ‖c̃‖) + Σ (β·other·curvature/n)·e²,  m = β·other·slope,
/// with λ = n·(log n − log ‖c̃‖)/(n − ‖c̃‖) between 1 and n/‖c̃‖; this is an Expansion of f·n/√q.
class ChainExpander final : public Expander {
 public:
  explicit ChainExpander(const ChainProblem& problem)
      : problem_(problem),
        ranges_(problem.geometry, problem.points, problem.options),
        functionals_(problem),
        support_(problem, ranges_, functionals_.deviations()) {}

  [[nodiscard]] ConvexParts parts() const override { return {ranges_, support_.directions(), euclidean()}; }

  [[nodiscard]] std::unique_ptr<BallExpander> around(const Ball& ball) const override {
    return std::make_unique<Around>(*this, ball);
  }

 private:
  /// Entry changes of all samples on one ball, independent of the functional.
  class Around final : public BallExpander {
   public:
    Around(const ChainExpander& machine, const Ball& ball) : machine_(machine), ball_(machine.support_.lift(ball)) {
      const Interval& norm = ball_.range.norm;
      if (norm.low > 0x1p-20 * norm.high) changes_ = machine.changes(ball_);
    }
    [[nodiscard]] Expansion expand(const Functional& functional) const override {
      return changes_.empty() ? Expansion{} : machine_.expand(functional, ball_, changes_);
    }

   private:
    const ChainExpander& machine_;
    LiftedBall ball_;
    std::vector<EntryChange> changes_;  ///< empty if the ball contains or nearly contains the origin
  };

  [[nodiscard]] bool euclidean() const { return problem_.options.norm == Norm::l2; }

  /// Returns the changes of all samples, computed in the memory that holds the support.
  [[nodiscard]] std::vector<EntryChange> changes(const LiftedBall& ball) const {
    const bool biased = support_.biased_later();
    const std::vector<LiftedSample>& samples = support_.samples();
    std::vector<EntryChange> result;
    if (const HeldSupport* holder = support_.directions().holder()) {
      result.resize(samples.size());
      holder->cones.enclose_changes(HeldBalls(support_, euclidean(), {&ball, 1}).view(), biased, result.data());
      return result;
    }
    const std::vector<SampleCosine> cosines = support_.cosines(ball);
    const ChainView chain = support_.chain();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.push_back(ChangeEnclosure(chain, ball.range, samples[i], cosines[i]).change(biased));
    }
    return result;
  }

  [[nodiscard]] Expansion expand(const Functional& functional, const LiftedBall& ball,
                                 std::span<const EntryChange> changes) const {
    const ChainWeights& weights = functionals_.of(functional);
    Expansion result{.exponent = weights.exponent};
    result.centre = ball.centre;
    result.direction = ball.direction;
    result.centre_norm = ball.range.centre_norm;
    result.unit = ball.unit;
    result.half = ball.weigh;
    result.nu = ball.range.second_order * (1 + 0x1p-48);
    const ChainSums sums = add_samples(weights, ball.range, changes, result);
    add_slopes(ball, sums, result);
    set_scale(weights, ball.range, sums, result);
    result.bounded = result.least_scale > 0 && std::isfinite(result.error) && std::isfinite(result.constant);
    return result;
  }

  /// Upper bound of |⟨c,z⟩/‖c̃‖ + v|.
  static double longest(const LiftedRange& ball) { return above(ball.step + ball.second_order); }

  [[nodiscard]] ChainSums add_samples(const ChainWeights& weights, const LiftedRange& ball,
                                      std::span<const EntryChange> changes, Expansion& result) const {
    ChainSums sums;
    sums.slopes.resize(changes.size(), 0.0);
    result.w.resize(changes.size(), 0.0);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const EntryChange& change = changes[i];
      result.u.push_back(change.cosine.middle());
      const double off = longest(ball) * (support_.direction_error() + change.cosine.width());
      const double reach = result.reach.emplace_back(above(change.reach + off));
      if (weights.beta[i] == 0) continue;
      const Interval weight = enclosed_weight(weights.beta[i]) * change.other.in_units_of(support_.samples()[i].unit);
      if (change.sloped == 0) {
        sums.rest = sums.rest + weight * change.anywhere;
        continue;
      }
      const double w = result.w[i] = (weight * change.curvature / ball.norm).low;
      const Interval slope = weight * change.slope, m = Interval::of(slope.middle());
      sums.level = sums.level + weight * change.start;
      sums.stretch = sums.stretch + weight * change.by_norm;
      sums.turn = sums.turn + m * change.cosine;
      sums.slopes[i] = m.low;
      sums.moduli = sums.moduli + Interval::of(m.modulus());
      const Interval square = Interval::of(std::abs(w)) * Interval::of(3) * Interval::of(reach) * Interval::of(off);
      sums.error = sums.error + Interval::of(slope.radius()) * Interval::of(reach) + square;
    }
    return sums;
  }

  /// Σ m·xᵢ/‖x̃ᵢ‖ is a sum of n products in an unspecified order, with direction errors direction_error. By the
  /// Cauchy–Schwarz inequality the error of its product with z is at most that many rounding units of ‖z‖·Σ|m|.
  void add_slopes(const LiftedBall& ball, const ChainSums& sums, Expansion& result) const {
    const Interval rise = sums.level + ball.range.norm / ball.range.start * sums.stretch - sums.turn;
    result.rise = rise.middle();
    result.gradient.assign(result.unit.size(), 0.0);
    support_.directions().combine(sums.slopes, result.gradient);
    const double rounding = 1.01 * static_cast<double>(problem_.support.rows + 16) * 0x1p-52;
    Interval error = sums.error + Interval::of(rounding + 2 * support_.direction_error()) * sums.moduli *
                                      Interval::of(ball.range.step);
    for (std::size_t j = 0; j < result.gradient.size(); ++j) {
      result.gradient[j] += result.rise * result.unit[j];
      error = error + Interval::of(0x1p-50 * std::abs(result.gradient[j])) * Interval::of(result.half[j]);
    }
    const double off = rise.radius() + 2 * support_.direction_error() * std::abs(result.rise);
    result.error = (error + Interval::of(off) * Interval::of(longest(ball.range))).high * (1 + 0x1p-40);
  }

  /// √q/n decreases with n since q = A·n² + B.
  void set_scale(const ChainWeights& weights, const LiftedRange& ball, const ChainSums& sums, Expansion& result) const {
    const auto at_norm = [&](double norm) {
      const Interval point = Interval::of(norm);
      return support_.deviation(point, functionals_.deviations().point) / point;
    };
    const Interval scale{at_norm(ball.norm.high).low, at_norm(ball.norm.low).high};
    result.least_scale = scale.low;
    result.largest_scale = scale.high;
    result.constant = (ball.start * sums.level + ball.norm * sums.rest + weights.offset / scale).low;
  }

  const ChainProblem& problem_;
  Ranges ranges_;
  ChainFunctionals functionals_;
  LiftedSupport support_;
};

}  // namespace

std::unique_ptr<LowerBound> make_chain_convex_bound(const ChainProblem& problem) {
  return make_expansion_bound(std::make_unique<ChainExpander>(problem), problem.functionals, problem.engine);
}

}  // namespace widelimit
