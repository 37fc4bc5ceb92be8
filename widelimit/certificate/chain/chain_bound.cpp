#include "widelimit/certificate/chain/chain_bound.hpp"

#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/convex/lifted_ball.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace widelimit {

namespace {

/// Returns the exponents of √q after the last layer for points whose norm is near their scale.
EntryExponents deviation_exponents(const ChainProblem& problem) {
  const ChainSteps steps(problem.chain, problem.kind);
  const Interval one = Interval::of(1), lift = lifted_coordinate(problem.chain);
  const auto entry = [&](const Interval& other, int exponent) {
    return enclose_entry(steps.view(), {one, other, one, problem.exponents.point, exponent}, false);
  };
  EntryExponents result{.point = entry(one, 0).scale.exponent, .sample = {}};
  for (Index i = 0; i < problem.support.rows; ++i) {
    const int exponent = problem.row_exponent(i);
    const Interval norm = Interval::of(problem.geometry.support.norms[usize(i)]), sample_lift = scaled(lift, -exponent);
    const bool zero = norm.high == 0 && !steps.biased();
    result.sample.push_back(zero ? EntryExponents::no_entry
                                 : entry(sqrt(norm * norm + sample_lift * sample_lift), exponent).other.exponent);
  }
  return result;
}

/// last_bias²·Σβ in units of 2^exponent.
Interval last_bias_term(const ChainProblem& problem, const Functional& functional, int exponent) {
  if (problem.last_bias == 0) return Interval::of(0);
  const FunctionalWeights weights = functional_weights(problem.alpha, problem.bias, functional);
  // Without sample exponents, the weights and their bias are in units of 2^weights.exponent.
  Interval sum = Interval::of(0);
  for (const double beta : weights.beta) sum = sum + outward(beta, beta);
  const int own = scale_exponent(std::abs(problem.last_bias));
  const Interval bias = scaled(Interval::of(problem.last_bias), -own);
  return scaled(bias * bias * sum, weights.exponent + 2 * own - exponent);
}

ChainWeights chain_weights(const ChainProblem& problem, const EntryExponents& deviations,
                           const Functional& functional) {
  FunctionalWeights weights = functional_weights(problem.alpha, problem.bias, functional, deviations);
  ChainWeights result{.beta = std::move(weights.beta), .offset = {}, .exponent = weights.exponent};
  const auto bias = [&](Index output) { return Interval::of(output >= 0 ? problem.bias[usize(output)] : 0); };
  result.offset = scaled(bias(functional.plus) - bias(functional.minus), -weights.exponent) +
                  last_bias_term(problem, functional, weights.exponent);
  return result;
}

/// (Ball, sample) pairs per batch on an engine: four doubles each, 512 MiB.
constexpr Index pairs_at_once = Index{1} << 24;

class ChainBound final : public LowerBound {
 public:
  explicit ChainBound(const ChainProblem& problem)
      : problem_(problem),
        ranges_(problem.geometry, problem.points, problem.options),
        functionals_(problem),
        support_(problem, ranges_, functionals_.deviations()),
        rows_(problem.functionals, [&](const Functional& functional) {
          const std::vector<double>& beta = functionals_.of(functional).beta;
          dense_.insert(dense_.end(), beta.begin(), beta.end());
          return count_++;
        }) {
    if (holder() == nullptr) return;
    const Index supports = problem.support.rows;
    weights_ = holder()->engine.algebra().hold(MatrixView<const double>{dense_.data(), count_, supports, supports});
  }

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(problem_.functionals, queries);
    std::vector<double> bounds(queries.size());
    if (holder() != nullptr) {
      evaluate_held(groups, queries, bounds);
      return bounds;
    }
    problem_.engine.for_each(std::ssize(groups.balls), [&](Index k) {
      const LiftedBall ball = support_.lift(groups.balls[usize(k)]);
      const std::vector<SampleCosine> cosines = support_.cosines(ball);
      std::vector<Interval> entries;
      for (std::size_t i = 0; i < cosines.size(); ++i) {
        entries.push_back(enclose_on_ball(support_.chain(), ball.range, support_.samples()[i], cosines[i]));
      }
      const Interval scale = scale_of(ball);
      for (Index q = groups.first[usize(k)]; q < groups.first[usize(k + 1)]; ++q) {
        const ChainWeights& weights = weights_of(queries[usize(q)]);
        bounds[usize(q)] = bound(weights, scale, sum_of(weights, entries));
      }
    });
    return bounds;
  }

 private:
  [[nodiscard]] const HeldSupport* holder() const { return support_.directions().holder(); }
  [[nodiscard]] const ChainWeights& weights_of(const BallQuery& query) const {
    return functionals_.of(problem_.functionals[usize(query.functional)]);
  }
  [[nodiscard]] Interval scale_of(const LiftedBall& ball) const {
    return support_.deviation(ball.range.norm, functionals_.deviations().point);
  }

  static Interval sum_of(const ChainWeights& weights, std::span<const Interval> entries) {
    Interval sum = Interval::of(0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (weights.beta[i] != 0) sum = sum + enclosed_weight(weights.beta[i]) * entries[i];
    }
    return sum;
  }

  static double bound(const ChainWeights& weights, const Interval& scale, const Interval& sum) {
    const double low = (scale * sum + weights.offset).low;
    return std::isfinite(low) ? unscaled_bound(low, weights.exponent) : -std::numeric_limits<double>::infinity();
  }

  /// Evaluates batches of balls on the engine that holds the support.
  void evaluate_held(const BallGroups& groups, std::span<const BallQuery> queries, std::vector<double>& bounds) const {
    const Index count = std::ssize(groups.balls);
    const Index at_once = std::max<Index>(1, pairs_at_once / std::max<Index>(1, problem_.support.rows));
    for (Index begin = 0; begin < count; begin += at_once) {
      const Index size = std::min(at_once, count - begin), first = groups.first[usize(begin)];
      std::vector<LiftedBall> balls(usize(size));
      std::vector<Interval> scales(usize(size));
      problem_.engine.for_each(size, [&](Index k) {
        balls[usize(k)] = support_.lift(groups.balls[usize(begin + k)]);
        scales[usize(k)] = scale_of(balls[usize(k)]);
      });
      std::vector<ConeSum> requests;
      for (Index k = 0; k < size; ++k) {
        for (Index q = groups.first[usize(begin + k)]; q < groups.first[usize(begin + k + 1)]; ++q) {
          requests.push_back(
              {.ball = k, .weights = rows_.of(problem_.functionals[usize(queries[usize(q)].functional)])});
        }
      }
      std::vector<Interval> sums(requests.size());
      const HeldBalls held(support_, problem_.options.norm == Norm::l2, balls);
      holder()->cones.enclose_sums(held.view(), weights_, requests, sums.data());
      for (std::size_t q = 0; q < requests.size(); ++q) {
        const std::size_t place = usize(first) + q;
        bounds[place] = bound(weights_of(queries[place]), scales[usize(requests[q].ball)], sums[q]);
      }
    }
  }

  const ChainProblem& problem_;
  Ranges ranges_;
  ChainFunctionals functionals_;
  LiftedSupport support_;
  std::vector<double> dense_;
  Index count_ = 0;
  ByOutputs<Index> rows_;  ///< row indices in weights_
  EngineMatrix weights_;   ///< on an engine that holds the support
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
