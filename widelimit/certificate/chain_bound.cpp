#include "widelimit/certificate/chain_bound.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/lifted_ball.hpp"
#include "widelimit/certificate/side_bound.hpp"

#include <cmath>
#include <limits>

namespace widelimit {

namespace {

class ChainBound final : public LowerBound {
 public:
  explicit ChainBound(const ChainProblem& problem)
      : problem_(problem), ranges_(problem.geometry, problem.points, problem.options) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(problem_.functionals, queries);
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(groups.balls), team_size(problem_.options.threads), [&](Index k) {
      const LiftedBall ball = lift_ball(problem_, ranges_, groups.balls[at(k)]);
      std::vector<EnclosedEntry> entries;
      for (const TurnedSample& sample : ball.samples) {
        entries.push_back(enclose_entry(problem_.chain, problem_.kind, {ball.norm, sample.norm, sample.rho}, false));
      }
      for (Index q = groups.first[at(k)]; q < groups.first[at(k + 1)]; ++q) {
        bounds[at(q)] = lowest_sum(problem_.functionals[at(queries[at(q)].functional)], entries);
      }
    });
    return bounds;
  }

 private:
  [[nodiscard]] double lowest_sum(const Functional& f, const std::vector<EnclosedEntry>& entries) const {
    Interval sum = Interval::of(0), scale = Interval::of(0);
    for (Index i = 0; i < std::ssize(entries); ++i) {
      const EnclosedEntry& entry = entries[at(i)];
      sum = sum + problem_.weight(f, i) * (entry.other * entry.value);
      scale = entry.scale;
    }
    const double low = (scale * sum + problem_.offset(f)).low;
    return std::isfinite(low) ? low : -std::numeric_limits<double>::infinity();
  }

  const ChainProblem& problem_;
  Ranges ranges_;
};

}  // namespace

Interval ChainProblem::weight(const Functional& functional, Index sample) const {
  const auto of = [&](Index output) { return Interval::of(output >= 0 ? alpha(sample, output) : 0); };
  return of(functional.plus) - of(functional.minus);
}

Interval ChainProblem::offset(const Functional& functional) const {
  const auto of = [&](Index output) { return Interval::of(output >= 0 ? bias[at(output)] : 0); };
  const Interval own = of(functional.plus) - of(functional.minus);
  if (last_bias == 0) return own;
  Interval sum = Interval::of(0);
  for (Index i = 0; i < alpha.rows; ++i) sum = sum + weight(functional, i);
  return own + Interval::of(last_bias) * Interval::of(last_bias) * sum;
}

std::unique_ptr<LowerBound> make_chain_bound(const ChainProblem& problem) {
  return std::make_unique<ChainBound>(problem);
}

}  // namespace widelimit
