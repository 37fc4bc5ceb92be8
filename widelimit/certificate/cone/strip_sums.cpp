#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/cone/entry_bounds.hpp"
#include "widelimit/certificate/cone/entry_sums.hpp"

#include <algorithm>
#include <array>

namespace widelimit {

namespace {

/// A ball and the ranges of all samples over it; null pointers if ranges are computed strip by strip on demand.
struct BallRanges {
  Ball ball;
  Interval norm;
  const double* low = nullptr;
  const double* high = nullptr;
};

/// Returns Σ a·b of one strip, with eight accumulators.
double strip_product(const double* a, const double* b, Index count) {
  constexpr Index sums = 8;
  std::array<double, sums> sum{};
  Index k = 0;
  for (; k + sums <= count; k += sums) {
    for (Index s = 0; s < sums; ++s) sum[usize(s)] += a[k + s] * b[k + s];
  }
  for (; k < count; ++k) sum[0] += a[k] * b[k];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

class StripSums final : public EntrySums {
 public:
  StripSums(const CertificateProblem& problem, const Ranges& ranges, ConeRule rule,
            const ByOutputs<SignedWeights>& weights)
      : problem_(problem),
        ranges_(ranges),
        weights_(weights),
        whole_rows_(problem.options.box.has_value() ||
                    std::any_of(problem.functionals.begin(), problem.functionals.end(),
                                [&](const Functional& functional) { return !weights.of(functional).which.empty(); })) {
    if (rule == ConeRule::paper) {
      entries_ = std::make_unique<PaperEntryBounds>(problem.kernel);
    } else {
      entries_ = std::make_unique<IntervalEntryBounds>(problem.kernel);
    }
  }

  [[nodiscard]] std::vector<EntrySum> evaluate(const BallGroups& groups,
                                               std::span<const BallQuery> queries) const override {
    std::vector<EntrySum> sums(queries.size());
    const Index balls_at_once = problem_.options.box ? 64 : 16;
    const Index count = std::ssize(groups.balls);
    problem_.engine.for_each((count + balls_at_once - 1) / balls_at_once, [&](Index task) {
      evaluate_balls(groups, queries, task * balls_at_once, std::min(count, (task + 1) * balls_at_once), sums.data());
    });
    return sums;
  }

  [[nodiscard]] double additions(Index terms) const override {
    const Index strips = (terms + EntryBounds::longest - 1) / EntryBounds::longest;
    return static_cast<double>(EntryBounds::longest) / 8 + 4 + static_cast<double>(strips);
  }

 private:
  [[nodiscard]] double sum(const BallRanges& ranges, const SignedWeights& weights, EntryScratch& scratch) const;
  void evaluate_balls(const BallGroups& groups, std::span<const BallQuery> queries, Index begin, Index end,
                      EntrySum* sums) const;

  const CertificateProblem& problem_;
  const Ranges& ranges_;
  const ByOutputs<SignedWeights>& weights_;
  std::unique_ptr<EntryBounds> entries_;
  bool whole_rows_;  ///< ranges of all samples are computed first, due to a box or sparse weights
};

double StripSums::sum(const BallRanges& ranges, const SignedWeights& weights, EntryScratch& scratch) const {
  const auto& [ball, norm, low, high] = ranges;
  const auto count = std::ssize(weights.weight);
  std::array<double, usize(EntryBounds::longest)> sides{}, lows{}, highs{};
  double sum = 0;
  for (Index begin = 0; begin < count; begin += EntryBounds::longest) {
    const Index size = std::min(EntryBounds::longest, count - begin);
    RangeStrip strip{norm, size, lows.data(), highs.data(), weights.weight.data() + begin};
    if (low == nullptr) {
      const host::ConeSpread spread = ranges_.spread(ball, norm, begin);
      if (entries_->bound_around(norm, spread, size, strip.weight, sides.data())) {
        sum += strip_product(strip.weight, sides.data(), size);
        continue;
      }
      ranges_.widen(ball, norm, begin, size, lows.data(), highs.data());
    } else if (weights.which.empty()) {
      strip.low = low + begin, strip.high = high + begin;
    } else {
      for (Index k = 0; k < size; ++k) {
        const std::int32_t i = weights.which[usize(begin + k)];
        lows[usize(k)] = low[i], highs[usize(k)] = high[i];
      }
    }
    entries_->bound(strip, scratch, sides.data());
    sum += strip_product(strip.weight, sides.data(), size);
  }
  return sum;
}

/// Evaluates balls [begin, end); with a box, ranges come from matrix products over batches of balls.
void StripSums::evaluate_balls(const BallGroups& groups, std::span<const BallQuery> queries, Index begin, Index end,
                               EntrySum* sums) const {
  const Index at_once = problem_.options.box ? 64 : 1;
  const Index supports = whole_rows_ ? problem_.support.rows : 0;
  // std::vector reuses its memory in the next task; a Matrix would allocate it from the system each time.
  std::vector<double> lows(usize(at_once * supports)), highs(usize(at_once * supports));
  const MatrixView<double> low{lows.data(), at_once, supports, supports},
      high{highs.data(), at_once, supports, supports};
  std::vector<Interval> norms(usize(at_once));
  EntryScratch scratch;
  scratch.resize(usize(EntryBounds::longest));
  for (Index first = begin; first < end; first += at_once) {
    const Index size = std::min(at_once, end - first);
    const auto balls = std::span(groups.balls).subspan(usize(first), usize(size));
    if (whole_rows_) ranges_.evaluate(balls, low, high, norms);
    for (Index k = 0; k < size; ++k) {
      const Ball& ball = balls[usize(k)];
      const BallRanges ranges = whole_rows_ ? BallRanges{ball, norms[usize(k)], low.row(k), high.row(k)}
                                            : BallRanges{.ball = ball, .norm = ranges_.norm_range(ball)};
      for (Index q = groups.first[usize(first + k)]; q < groups.first[usize(first + k + 1)]; ++q) {
        const Functional& f = problem_.functionals[usize(queries[usize(q)].functional)];
        sums[q] = {sum(ranges, weights_.of(f), scratch), ranges.norm.high};
      }
    }
  }
}

}  // namespace

std::unique_ptr<EntrySums> make_strip_sums(const CertificateProblem& problem, const Ranges& ranges, ConeRule rule,
                                           const ByOutputs<SignedWeights>& weights) {
  return std::make_unique<StripSums>(problem, ranges, rule, weights);
}

}  // namespace widelimit
