#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/entry_bounds.hpp"
#include "widelimit/certificate/interval/interval.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace widelimit {

namespace {

/// β = α₊ − α₋ of a functional, zeros left out.
struct SignedWeights {
  std::vector<std::int32_t> which;  ///< samples; empty where all have a weight
  std::vector<double> weight;       ///< β·‖xᵢ‖
  double total = 0;                 ///< Σ|weight|, rounded up
  double bias = 0;                  ///< b₊ − b₋
  int exponent = 0;                 ///< f is 2^exponent times what these give
};

/// A ball and the ranges of all samples over it; null where they are widened strip by strip, as they are needed.
struct BallRanges {
  Ball ball;
  Interval norm;
  const double* low = nullptr;
  const double* high = nullptr;
};

/// f ≥ Σ_{β>0} β·(lower bound of the entry) + Σ_{β<0} β·(upper bound) + b: a bound of each kernel entry by itself.
class EntrywiseBound final : public LowerBound {
 public:
  EntrywiseBound(const CertificateProblem& problem, Ranges::Of of, std::unique_ptr<EntryBounds> sides);
  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override;

 private:
  void evaluate_balls(const BallGroups& groups, std::span<const BallQuery> queries, Index begin, Index end,
                      double* bounds) const;
  [[nodiscard]] double bound(const BallRanges& ranges, const SignedWeights& weights, EntryScratch& scratch) const;

  const CertificateProblem& problem_;
  Ranges ranges_;
  std::unique_ptr<EntryBounds> entries_;
  ByOutputs<SignedWeights> weights_;
  bool whole_rows_;  ///< whether ranges of all samples are found first: by a box's products, or to be picked from
};

/// Σ a·b of one strip, in eight sums.
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

/// Of the two outputs of a functional.
SignedWeights signed_weights(const CertificateProblem& problem, std::span<const double> norms,
                             const Functional& functional) {
  const FunctionalWeights weights = problem.weights(functional);
  SignedWeights result{.bias = weights.bias, .exponent = weights.exponent};
  for (Index i = 0; i < problem.alpha.rows; ++i) {
    const double beta = weights.beta[usize(i)];
    if (beta == 0) continue;
    result.which.push_back(static_cast<std::int32_t>(i));
    result.weight.push_back(beta * norms[usize(i)]);
    result.total = above(result.total + std::abs(result.weight.back()));
  }
  if (std::ssize(result.which) == problem.alpha.rows) result.which.clear();
  return result;
}

EntrywiseBound::EntrywiseBound(const CertificateProblem& problem, Ranges::Of of, std::unique_ptr<EntryBounds> sides)
    : problem_(problem),
      ranges_(problem, of),
      entries_(std::move(sides)),
      weights_(problem.functionals,
               [&](const Functional& functional) { return signed_weights(problem, ranges_.norms(), functional); }),
      whole_rows_(problem.options.box.has_value() ||
                  std::any_of(problem.functionals.begin(), problem.functionals.end(),
                              [&](const Functional& functional) { return !weights_.of(functional).which.empty(); })) {}

/// Rounding [docs/theory/certificates-proof.md]:
/// entries are off by norm·(κ's error + 16 units of κ(1)), weights by the error
/// of a norm and three units, sums in strips by a unit for each addition that a term goes through.
double EntrywiseBound::bound(const BallRanges& ranges, const SignedWeights& weights, EntryScratch& scratch) const {
  const auto& [ball, norm, low, high] = ranges;
  const auto count = std::ssize(weights.weight);
  std::array<double, usize(EntryBounds::longest)> sides{}, lows{}, highs{};
  double sum = 0;
  Index strips = 0;
  for (Index begin = 0; begin < count; begin += EntryBounds::longest, ++strips) {
    const Index size = std::min(EntryBounds::longest, count - begin);
    RangeStrip strip{norm, size, lows.data(), highs.data(), weights.weight.data() + begin};
    if (low == nullptr) {
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
  const ConeKernel& kernel = problem_.kernel;
  const double additions = static_cast<double>(EntryBounds::longest) / 8 + 4 + static_cast<double>(strips);
  const double relative = (additions + 32) * unit_roundoff + ranges_.norm_error() + kernel.scale_error();
  const double error = weights.total * norm.high * (kernel.value_error() + relative * kernel.largest());
  const double value = kernel.scale() * (sum - 1.001 * error);
  const double result = value + weights.bias - 4 * unit_roundoff * (std::abs(value) + std::abs(weights.bias));
  return std::isfinite(result) ? unscaled_bound(result, weights.exponent) : -std::numeric_limits<double>::infinity();
}

/// Balls [begin, end); with a box, ranges come from matrix products, which like to be large.
void EntrywiseBound::evaluate_balls(const BallGroups& groups, std::span<const BallQuery> queries, Index begin,
                                    Index end, double* bounds) const {
  const Index at_once = problem_.options.box ? 64 : 1;
  const Index supports = whole_rows_ ? problem_.support.rows : 0;
  // Vectors, whose memory is used again by the next task; that of a Matrix comes from the system each time.
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
        bounds[q] = bound(ranges, weights_.of(f), scratch);
      }
    }
  }
}

std::vector<double> EntrywiseBound::evaluate(std::span<const BallQuery> queries) const {
  const BallGroups groups = group_balls(problem_.functionals, queries);
  std::vector<double> bounds(queries.size());
  const Index balls_at_once = problem_.options.box ? 64 : 16;
  const Index count = std::ssize(groups.balls);
  problem_.engine.for_each((count + balls_at_once - 1) / balls_at_once, [&](Index task) {
    evaluate_balls(groups, queries, task * balls_at_once, std::min(count, (task + 1) * balls_at_once), bounds.data());
  });
  return bounds;
}

}  // namespace

std::unique_ptr<LowerBound> make_paper_bound(const CertificateProblem& problem) {
  return std::make_unique<EntrywiseBound>(problem, Ranges::Of::published,
                                          std::make_unique<PaperEntryBounds>(problem.kernel));
}

std::unique_ptr<LowerBound> make_interval_bound(const CertificateProblem& problem) {
  return std::make_unique<EntrywiseBound>(problem, Ranges::Of::ball,
                                          std::make_unique<IntervalEntryBounds>(problem.kernel));
}

}  // namespace widelimit
