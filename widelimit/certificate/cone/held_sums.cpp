#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/entry_sums.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/engine.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Maximum number of entries of range matrices for a box: two matrices of 512 MiB.
constexpr Index boxed_entries = Index{1} << 26;

class HeldSums final : public EntrySums {
 public:
  HeldSums(const CertificateProblem& problem, const Ranges& ranges, ConeRule rule,
           const ByOutputs<SignedWeights>& weights)
      : problem_(problem),
        ranges_(ranges),
        support_(*ranges.geometry().support.held),
        profile_(problem.kernel.profile()),
        rule_(rule),
        rows_(problem.functionals, [&](const Functional& functional) {
          append(weights.of(functional));
          return count_++;
        }) {
    const Index supports = problem.support.rows;
    weights_ = support_.engine.algebra().hold(MatrixView<const double>{dense_.data(), count_, supports, supports});
  }

  [[nodiscard]] std::vector<EntrySum> evaluate(const BallGroups& groups,
                                               std::span<const BallQuery> queries) const override {
    const std::vector<ConeBall> balls = measured(groups.balls);
    const bool boxed = ranges_.boxed();
    const Index count = std::ssize(balls);
    const Index at_once = boxed ? std::max<Index>(1, boxed_entries / std::max<Index>(1, problem_.support.rows)) : count;
    std::vector<EntrySum> result(queries.size());
    for (Index begin = 0; begin < count; begin += at_once) {
      const Index end = std::min(count, begin + at_once);
      std::vector<ConeBall> some(balls.begin() + begin, balls.begin() + end);
      ConeRanges ranges{.inner = ranges_.geometry().placed};
      if (!ranges_.common()) ranges.spread = support_.spread;
      if (boxed) cut_by_box(std::span(groups.balls).subspan(usize(begin), usize(end - begin)), some, ranges);
      std::vector<ConeSum> requests;
      const Index first = groups.first[usize(begin)];
      for (Index b = begin; b < end; ++b) {
        for (Index q = groups.first[usize(b)]; q < groups.first[usize(b + 1)]; ++q) {
          const Functional& functional = problem_.functionals[usize(queries[usize(q)].functional)];
          requests.push_back({.ball = b - begin, .weights = rows_.of(functional)});
          result[usize(q)].norm = some[usize(b - begin)].outer;
        }
      }
      std::vector<double> sums(requests.size());
      support_.cones.bound_sums(profile_, rule_, ranges, some, weights_, requests, sums.data());
      for (std::size_t q = 0; q < sums.size(); ++q) result[usize(first) + q].sum = sums[q];
    }
    return result;
  }

  [[nodiscard]] double additions(Index /*terms*/) const override {
    return support_.cones.additions(problem_.support.rows);
  }

 private:
  /// Appends a dense row of weights, with zeros for samples without a weight.
  void append(const SignedWeights& weights) {
    const std::size_t begin = dense_.size();
    dense_.resize(begin + usize(problem_.support.rows), 0.0);
    for (std::size_t k = 0; k < weights.weight.size(); ++k) {
      dense_[begin + (weights.which.empty() ? k : usize(weights.which[k]))] = weights.weight[k];
    }
  }

  [[nodiscard]] std::vector<ConeBall> measured(std::span<const Ball> balls) const {
    std::vector<ConeBall> result(balls.size());
    constexpr Index at_once = 16;
    const Index count = std::ssize(balls);
    problem_.engine.for_each((count + at_once - 1) / at_once, [&](Index task) {
      for (Index k = task * at_once; k < std::min(count, (task + 1) * at_once); ++k) {
        const Ball& ball = balls[usize(k)];
        const Interval norm = ranges_.norm_range(ball);
        const Ranges::Widening widening = ranges_.widening(ball);
        result[usize(k)] = {.point = ball.point,
                            .radius = widening.radius,
                            .error = widening.error,
                            .inner = norm.low,
                            .outer = norm.high};
      }
    });
    return result;
  }

  /// Computes ranges over the boxes that surround the balls, with two matrix products.
  void cut_by_box(std::span<const Ball> balls, std::vector<ConeBall>& measured, ConeRanges& ranges) const {
    const Index count = std::ssize(balls), size = problem_.points.cols, supports = problem_.support.rows;
    Matrix<double> centres(count, size, Content::unset), halves(count, size, Content::unset);
    problem_.engine.for_each(count, [&](Index k) {
      measured[usize(k)].box_error = ranges_.surround(balls[usize(k)], centres.view().row(k), halves.view().row(k));
    });
    const Algebra& algebra = support_.engine.algebra();
    const auto product = [&](const Matrix<double>& rows, const EngineMatrix& directions) {
      EngineMatrix result = algebra.allocate(count, supports, Precision::f64);
      if (supports == 0) return result;
      algebra.product(1, Transpose::no, algebra.hold(MatrixView<const double>(rows.view())), Transpose::yes, directions,
                      0, result);
      return result;
    };
    ranges.middle = product(centres, support_.directions);
    ranges.reach = product(halves, support_.absolute);
  }

  const CertificateProblem& problem_;
  const Ranges& ranges_;
  const HeldSupport& support_;
  ConeProfile profile_;
  ConeRule rule_;
  std::vector<double> dense_;
  Index count_ = 0;
  ByOutputs<Index> rows_;  ///< row indices in weights_
  EngineMatrix weights_;
};

}  // namespace

std::unique_ptr<EntrySums> make_held_sums(const CertificateProblem& problem, const Ranges& ranges, ConeRule rule,
                                          const ByOutputs<SignedWeights>& weights) {
  return std::make_unique<HeldSums>(problem, ranges, rule, weights);
}

}  // namespace widelimit
