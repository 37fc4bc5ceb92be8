#include "widelimit/certificate/chain_bound.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/side_bound.hpp"

#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Of one pair: variances, covariance and tangent kernel.
struct EnclosedPair {
  Interval first, second, sigma, theta;
};

void affine_interval(const ChainLayer& layer, EnclosedPair& pair) {
  const Interval w = Interval::of(layer.w_std) * Interval::of(layer.w_std);
  const Interval b = Interval::of(layer.b_std) * Interval::of(layer.b_std);
  pair.first = w * pair.first + b;
  pair.second = w * pair.second + b;
  pair.sigma = w * pair.sigma + b;
  pair.theta = w * pair.theta;
  if (layer.trained) pair.theta = pair.theta + pair.sigma;
}

/// The correlation c/√(q₁q₂); where a variance may be 0, anything that the sign of c allows.
Interval correlation_of(const Interval& sigma, const Interval& deviation) {
  const double low = sigma.low < 0 ? (deviation.low > 0 ? below(sigma.low / deviation.low) : -1)
                                   : (deviation.high > 0 ? below(sigma.low / deviation.high) : -1);
  const double high = sigma.high > 0 ? (deviation.low > 0 ? above(sigma.high / deviation.low) : 1)
                                     : (deviation.high > 0 ? above(sigma.high / deviation.high) : 1);
  return clamp(Interval{low, high}, -1, 1);
}

/// r·κ₁(c/r) at one corner, rounded both ways; r = 0 leaves 0.
Interval bent_interval(double sigma, double deviation) {
  if (!(deviation > 0)) return Interval::of(0);
  const Interval rho = clamp(Interval::of(sigma) / Interval::of(deviation), -1, 1);
  return Interval::of(deviation) * kappa1(rho);
}

/// E[φφ] = s·c + ½(1−s)²·r·κ₁(c/r), r = √(q₁q₂): ∂/∂c = E[φ'φ'] ≥ 0 and ∂/∂r = ½(1−s)²·√(1−ρ²)/π ≥ 0, so that both ends
/// are at corners.
void rectify_interval(const ChainLayer& layer, EnclosedPair& pair) {
  const Interval s = Interval::of(layer.slope);
  const Interval one = Interval::of(1), half = Interval::of(0.5);
  const Interval bend = half * (one - s) * (one - s);
  const Interval deviation = sqrt(pair.first * pair.second);
  const Interval factor = s + bend * kappa0(correlation_of(pair.sigma, deviation));
  const Interval least = s * Interval::of(pair.sigma.low) + bend * bent_interval(pair.sigma.low, deviation.low);
  const Interval most = s * Interval::of(pair.sigma.high) + bend * bent_interval(pair.sigma.high, deviation.high);
  pair.sigma = {least.low, most.high};
  pair.theta = pair.theta * factor;
  const Interval power = half * (one + s * s);
  pair.first = power * pair.first;
  pair.second = power * pair.second;
}

class ChainBound final : public LowerBound {
 public:
  explicit ChainBound(const ChainProblem& problem)
      : problem_(problem), ranges_(problem.geometry, problem.points, problem.options) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(problem_.functionals, queries);
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(groups.balls), team_size(problem_.options.threads), [&](Index ball) {
      const std::vector<Interval> entries = enclose_entries(groups.balls[at(ball)]);
      for (Index q = groups.first[at(ball)]; q < groups.first[at(ball + 1)]; ++q) {
        bounds[at(q)] = lowest_sum(problem_.functionals[at(queries[at(q)].functional)], entries);
      }
    });
    return bounds;
  }

 private:
  [[nodiscard]] std::vector<Interval> enclose_entries(const Ball& ball) const {
    const Index supports = problem_.support.rows;
    Matrix<double> low(1, supports, Content::unset), high(1, supports, Content::unset);
    std::vector<NormRange> norm(1);
    ranges_.evaluate({&ball, 1}, low.view(), high.view(), norm);
    const double slack = 2 * ranges_.norm_error();
    std::vector<Interval> entries;
    for (Index i = 0; i < supports; ++i) {
      const double length = ranges_.norms()[at(i)];
      const Interval other = outward(length * (1 - slack), length * (1 + slack));
      entries.push_back(enclose_kernel(problem_.chain, problem_.kind, {norm[0].low, norm[0].high}, other,
                                       Interval{low(0, i), high(0, i)} * other));
    }
    return entries;
  }

  [[nodiscard]] double lowest_sum(const Functional& f, const std::vector<Interval>& entries) const {
    const auto of = [&](Index output, Index i) { return Interval::of(output >= 0 ? problem_.alpha(i, output) : 0); };
    const auto offset = [&](Index output) { return Interval::of(output >= 0 ? problem_.bias[at(output)] : 0); };
    Interval sum = offset(f.plus) - offset(f.minus);
    for (Index i = 0; i < std::ssize(entries); ++i) sum = sum + (of(f.plus, i) - of(f.minus, i)) * entries[at(i)];
    return std::isfinite(sum.low) ? sum.low : -std::numeric_limits<double>::infinity();
  }

  const ChainProblem& problem_;
  Ranges ranges_;
};

}  // namespace

Interval enclose_kernel(const Chain& chain, Kind kind, const Interval& norm, const Interval& other,
                        const Interval& inner) {
  const Interval features = Interval::of(static_cast<double>(chain.features));
  EnclosedPair pair{norm * norm / features, other * other / features, inner / features, Interval::of(0)};
  for (const ChainLayer& layer : chain.layers)
    layer.rectifier ? rectify_interval(layer, pair) : affine_interval(layer, pair);
  return kind == Kind::ntk ? pair.theta : pair.sigma;
}

std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem) {
  return std::make_unique<ChainBound>(problem);
}

}  // namespace widelimit
