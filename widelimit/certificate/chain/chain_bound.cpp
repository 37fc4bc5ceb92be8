#include "widelimit/certificate/chain/chain_bound.hpp"

#include "widelimit/certificate/convex/lifted_ball.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

bool biased(const Chain& chain) {
  return std::any_of(chain.layers.begin(), chain.layers.end(),
                     [](const ChainLayer& layer) { return layer.b_std != 0; });
}

/// Of √q after the last layer, for points of about the norm that rows are scaled to.
EntryExponents deviation_exponents(const ChainProblem& problem) {
  const Interval one = Interval::of(1), lift = lifted_coordinate(problem.chain);
  const auto entry = [&](const Interval& other, int exponent) {
    return enclose_entry(problem.chain, Kind::nngp, {one, other, one, problem.exponents.point, exponent}, false);
  };
  EntryExponents result{.point = entry(one, 0).scale.exponent, .sample = {}};
  for (Index i = 0; i < problem.support.rows; ++i) {
    const int exponent = problem.row_exponent(i);
    const Interval norm = Interval::of(problem.geometry.support.norms[usize(i)]), own_lift = scaled(lift, -exponent);
    const bool zero = norm.high == 0 && !biased(problem.chain);
    result.sample.push_back(zero ? EntryExponents::no_entry
                                 : entry(sqrt(norm * norm + own_lift * own_lift), exponent).other.exponent);
  }
  return result;
}

/// last_bias²·Σβ in units of 2^exponent.
Interval last_bias_term(const ChainProblem& problem, const Functional& functional, int exponent) {
  if (problem.last_bias == 0) return Interval::of(0);
  const FunctionalWeights weights = functional_weights(problem.alpha, problem.bias, functional);
  // Without exponents of samples, weights and their bias are in units of weights.exponent.
  Interval sum = Interval::of(0);
  for (const double beta : weights.beta) sum = sum + outward(beta, beta);
  const int own = scale_exponent(std::abs(problem.last_bias));
  const Interval bias = scaled(Interval::of(problem.last_bias), -own);
  return scaled(bias * bias * sum, weights.exponent + 2 * own - exponent);
}

ChainWeights chain_weights(const ChainProblem& problem, const EntryExponents& deviations,
                           const Functional& functional) {
  const FunctionalWeights weights = functional_weights(problem.alpha, problem.bias, functional, deviations);
  ChainWeights result{.beta = {}, .offset = {}, .exponent = weights.exponent};
  for (const double beta : weights.beta) result.beta.push_back(beta == 0 ? Interval::of(0) : outward(beta, beta));
  const auto bias = [&](Index output) { return Interval::of(output >= 0 ? problem.bias[usize(output)] : 0); };
  result.offset = scaled(bias(functional.plus) - bias(functional.minus), -weights.exponent) +
                  last_bias_term(problem, functional, weights.exponent);
  return result;
}

class ChainBound final : public LowerBound {
 public:
  explicit ChainBound(const ChainProblem& problem)
      : problem_(problem), ranges_(problem.geometry, problem.points, problem.options), functionals_(problem) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(problem_.functionals, queries);
    std::vector<double> bounds(queries.size());
    problem_.engine.for_each(std::ssize(groups.balls), [&](Index k) {
      const LiftedBall ball = lift_ball(problem_, ranges_, groups.balls[usize(k)]);
      std::vector<EnclosedEntry> entries;
      for (const SampleCosine& sample : ball.samples) {
        entries.push_back(
            enclose_entry(problem_.chain, problem_.kind, ball.pair(sample, ball.norm, sample.rho), false));
      }
      for (Index q = groups.first[usize(k)]; q < groups.first[usize(k + 1)]; ++q) {
        bounds[usize(q)] = lowest_sum(problem_.functionals[usize(queries[usize(q)].functional)], entries);
      }
    });
    return bounds;
  }

 private:
  [[nodiscard]] double lowest_sum(const Functional& f, const std::vector<EnclosedEntry>& entries) const {
    const ChainWeights& weights = functionals_.of(f);
    const EntryExponents& deviations = functionals_.deviations();
    Interval sum = Interval::of(0), scale = Interval::of(0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const EnclosedEntry& entry = entries[i];
      scale = entry.scale.in_units_of(deviations.point);
      if (deviations.sample[i] == EntryExponents::no_entry) continue;
      sum = sum + weights.beta[i] * (entry.other.in_units_of(deviations.sample[i]) * entry.value);
    }
    const double low = (scale * sum + weights.offset).low;
    return std::isfinite(low) ? unscaled_bound(low, weights.exponent) : -std::numeric_limits<double>::infinity();
  }

  const ChainProblem& problem_;
  Ranges ranges_;
  ChainFunctionals functionals_;
};

}  // namespace

ChainFunctionals::ChainFunctionals(const ChainProblem& problem)
    : deviations_(deviation_exponents(problem)), weights_(problem.functionals, [&](const Functional& functional) {
        return chain_weights(problem, deviations_, functional);
      }) {}

std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem) {
  return std::make_unique<ChainBound>(problem);
}

}  // namespace widelimit
