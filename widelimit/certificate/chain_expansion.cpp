#include "widelimit/certificate/chain_bound.hpp"
#include "widelimit/certificate/convex_bound.hpp"
#include "widelimit/certificate/entry_change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

double middle_of(const Interval& a) { return a.low + (a.high - a.low) / 2; }
/// How far a is from its middle.
double radius_of(const Interval& a) {
  const double middle = middle_of(a);
  return std::max(above(a.high - middle), above(middle - a.low));
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
    const double middle = middle_of(weight);
    const double widened = (radius_of(weight) + error_ * std::abs(middle)) * (1 + 0x1p-50);
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

/// Sums over the samples of an expansion.
struct ChainSums {
  Interval level = Interval::of(0);    ///< H₀ = Σ β·other·value of samples with slopes
  Interval rest = Interval::of(0);     ///< the same of the others, anywhere on the ball
  Interval stretch = Interval::of(0);  ///< Υ = Σ β·other·by_norm
  Interval turn = Interval::of(0);     ///< Σ mρ₀
  Interval error = Interval::of(0);
};

/// With n = ‖x̃‖ and f = √q·H + b (q the variance after the last layer):   [docs/theory/certificates.md#biases]
///   n·H ≥ n·(H₀ + rest) + ⟨z, Σ m xᵢ/‖x̃ᵢ‖⟩ + (λΥ − Σ mρ₀)(n − ‖c̃‖) + Σ (β·other·curvature/n)·e²,  m = β·other·slope,
/// with λ = n·(log n − log ‖c̃‖)/(n − ‖c̃‖) between 1 and n/‖c̃‖: an Expansion of f·n/√q.
class ChainExpander final : public Expander {
 public:
  explicit ChainExpander(const ChainProblem& problem)
      : problem_(problem),
        ranges_(problem.geometry, problem.points, problem.options),
        directions_(problem.geometry.support, lifted_factors(problem)),
        biased_(biased_later(problem.chain)) {}

  [[nodiscard]] ConvexParts parts() const override { return {ranges_, directions_, problem_.options.norm == Norm::l2}; }

  [[nodiscard]] Expansion expand(const Functional& functional, const Ball& ball) const override {
    const LiftedBall lifted = lift_ball(problem_, ranges_, ball);
    Expansion result;
    if (!(lifted.norm.low > 0x1p-20 * lifted.norm.high) || lifted.samples.empty()) return result;
    place(lifted, result);
    SlopeSum slopes(problem_.support.cols, problem_.support.rows);
    const ChainSums sums = add_samples(functional, lifted, slopes, result);
    add_slopes(lifted, slopes, sums, result);
    set_scale(functional, lifted, sums, result);
    result.bounded = std::isfinite(result.error) && std::isfinite(result.constant);
    return result;
  }

 private:
  static bool biased_later(const Chain& chain) {
    const auto later = std::span(chain.layers).subspan(std::min<std::size_t>(1, chain.layers.size()));
    return std::any_of(later.begin(), later.end(), [](const ChainLayer& layer) { return layer.b_std != 0; });
  }
  /// ‖xᵢ‖/‖x̃ᵢ‖.
  static std::vector<double> lifted_factors(const ChainProblem& problem) {
    const double lift = lifted_coordinate(problem.chain).low;
    std::vector<double> factors;
    for (const double norm : problem.geometry.support.norms) {
      factors.push_back(norm > 0 ? norm / std::hypot(norm, lift) : 0);
    }
    return factors;
  }

  /// What computed directions are off by, for a step of length 1.
  [[nodiscard]] double direction_error() const { return 4 * ranges_.norm_error() + 32 * 0x1p-53; }
  /// |⟨c,z⟩/‖c̃‖ + v| is not larger.
  [[nodiscard]] double longest(const LiftedBall& ball) const {
    const double step = parts().euclidean ? ball.radius : euclidean_norm(ball.half.data(), std::ssize(ball.half));
    return (step + ball.bulge) * (1 + 0x1p-40);
  }

  void place(const LiftedBall& ball, Expansion& result) const {
    result.centre = ball.centre;
    result.centre_norm = middle_of(ball.start);
    for (const double x : ball.centre) result.direction.push_back(x / result.centre_norm);
    const double rest = directions_.rest_length(result.direction);
    result.unit = directions_.keep(result.direction, rest);
    result.half = directions_.keep(ball.half, directions_.rest_half(result.direction, ball.half, rest));
    result.nu = ball.bulge * (1 + 0x1p-48);
  }

  [[nodiscard]] ChainSums add_samples(const Functional& functional, const LiftedBall& ball, SlopeSum& slopes,
                                      Expansion& result) const {
    ChainSums sums;
    for (Index i = 0; i < std::ssize(ball.samples); ++i) {
      const TurnedSample& sample = ball.samples[at(i)];
      const EntryChange change = enclose_change(problem_.chain, problem_.kind, biased_, ball, sample);
      const Interval weight = problem_.weight(functional, i) * change.other;
      result.u.push_back(middle_of(sample.start));
      const double off = longest(ball) * (direction_error() + sample.start.width());
      const double reach = result.reach.emplace_back(above(sample.reach + off));
      result.w.push_back(0);
      if (!change.sloped) {
        sums.rest = sums.rest + weight * change.anywhere;
        continue;
      }
      const double w = result.w.back() = (weight * change.curvature / ball.norm).low;
      const Interval slope = weight * change.slope, m = Interval::of(middle_of(slope));
      sums.level = sums.level + weight * change.start;
      sums.stretch = sums.stretch + weight * change.by_norm;
      sums.turn = sums.turn + m * sample.start;
      slopes.add(m / sample.norm, problem_.support.row(i));
      const Interval square = Interval::of(std::abs(w)) * Interval::of(3) * Interval::of(reach) * Interval::of(off);
      sums.error = sums.error + Interval::of(radius_of(slope)) * Interval::of(reach) + square;
    }
    return sums;
  }

  void add_slopes(const LiftedBall& ball, const SlopeSum& slopes, const ChainSums& sums, Expansion& result) const {
    const Interval rise = sums.level + ball.norm / ball.start * sums.stretch - sums.turn;
    result.rise = middle_of(rise);
    std::vector<double> gradient;
    Interval error = sums.error;
    for (Index j = 0; j < std::ssize(ball.half); ++j) {
      const Interval slope = slopes.feature(j);
      gradient.push_back(middle_of(slope));
      error = error + Interval::of(radius_of(slope)) * Interval::of(ball.half[at(j)]);
    }
    result.gradient = directions_.keep(gradient, 0);
    for (std::size_t j = 0; j < result.gradient.size(); ++j) {
      result.gradient[j] += result.rise * result.unit[j];
      error = error + Interval::of(0x1p-50 * std::abs(result.gradient[j])) * Interval::of(result.half[j]);
    }
    const double off = radius_of(rise) + 2 * direction_error() * std::abs(result.rise);
    result.error = (error + Interval::of(off) * Interval::of(longest(ball))).high * (1 + 0x1p-40);
  }

  /// √q/n falls with n: q = A·n² + B.
  void set_scale(const Functional& functional, const LiftedBall& ball, const ChainSums& sums, Expansion& result) const {
    const auto at_norm = [&](double norm) {
      const TurnedSample& any = ball.samples.front();
      const Interval point = Interval::of(norm);
      return enclose_entry(problem_.chain, problem_.kind, {point, any.norm, any.rho}, false).scale / point;
    };
    const Interval scale{at_norm(ball.norm.high).low, at_norm(ball.norm.low).high};
    result.least_scale = scale.low;
    result.largest_scale = scale.high;
    if (!(scale.low > 0)) return;
    result.constant = (ball.start * sums.level + ball.norm * sums.rest + problem_.offset(functional) / scale).low;
  }

  const ChainProblem& problem_;
  Ranges ranges_;
  ReducedDirections directions_;
  bool biased_;
};

}  // namespace

std::unique_ptr<LowerBound> make_chain_convex_bound(const ChainProblem& problem) {
  return make_expansion_bound(std::make_unique<ChainExpander>(problem), problem.functionals, problem.options.threads);
}

}  // namespace widelimit
