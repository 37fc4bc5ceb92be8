#include "widelimit/certificate/convex/lifted_ball.hpp"

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/host/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

Interval lifted(const Interval& norm, const Interval& lift) { return sqrt(norm * norm + lift * lift); }

/// Interval of a norm around its computed value.
Interval around(double length, double norm_error) {
  return outward(length * (1 - 2 * norm_error), length * (1 + 2 * norm_error));
}

std::vector<LiftedSample> lifted_samples(const ChainProblem& problem, const Interval& point_lift,
                                         const EntryExponents& deviations) {
  const SupportGeometry& support = problem.geometry.support;
  const Interval lift = lifted_coordinate(problem.chain);
  std::vector<LiftedSample> samples;
  for (Index i = 0; i < problem.support.rows; ++i) {
    const int exponent = problem.row_exponent(i), unit = deviations.sample[usize(i)];
    const Interval own = scaled(lift, -exponent);
    LiftedSample sample{.norm = lifted(around(support.norms[usize(i)], support.norm_error), own),
                        .share = {},
                        .offset = 0,
                        .exponent = exponent,
                        .unit = unit == EntryExponents::no_entry ? 0 : unit};
    if (sample.norm.low > 0) sample.share = own / sample.norm;
    sample.offset = point_lift.middle() * sample.share.middle();
    samples.push_back(sample);
  }
  return samples;
}

/// ‖xᵢ‖/‖x̃ᵢ‖.
std::vector<double> lifted_factors(const SupportGeometry& support, std::span<const LiftedSample> samples) {
  std::vector<double> factors;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    factors.push_back(samples[i].norm.low > 0 ? support.norms[i] / samples[i].norm.middle() : 0);
  }
  return factors;
}

}  // namespace

LiftedSupport::LiftedSupport(const ChainProblem& problem, const Ranges& ranges, const EntryExponents& deviations)
    : problem_(problem),
      ranges_(ranges),
      steps_(problem.chain, problem.kind),
      lift_(scaled(lifted_coordinate(problem.chain), -problem.exponents.point)),
      samples_(lifted_samples(problem, lift_, deviations)),
      directions_(problem.geometry.support, lifted_factors(problem.geometry.support, samples_)) {}

/// Three roundings plus half the width of the interval of ‖x̃ᵢ‖: twice the error of a norm and a few roundings.
double LiftedSupport::direction_error() const { return 4 * ranges_.norm_error() + 32 * unit_roundoff; }

LiftedBall LiftedSupport::lift(const Ball& ball) const {
  const bool euclidean = problem_.options.norm == Norm::l2;
  const Index features = problem_.points.cols;
  const double radius = above(ball.radius), norm_error = ranges_.norm_error();
  Surrounding box = ranges_.surrounding(ball);
  if (euclidean) {
    // An ℓ2 ball about the point is not a ball about another centre.
    std::copy_n(problem_.points.row(ball.point), features, box.centre.begin());
    std::fill(box.half.begin(), box.half.end(), radius);
  }
  const double length = euclidean_norm(box.centre.data(), features);
  LiftedRange range{.start = lifted(around(length, norm_error), lift_), .lift = lift_};
  range.norm = hull(lifted(ranges_.norm_range(ball), lift_), range.start);
  range.centre_norm = range.start.middle();
  range.factor = euclidean ? radius : 1;
  range.step = euclidean ? radius : around(euclidean_norm(box.half.data(), features), norm_error).high;
  range.exponent = problem_.exponents.point;
  range.has_cosine = range.norm.low > 0;
  const Interval step = Interval::of(range.step);
  if (range.has_cosine) range.second_order = (step * step / (Interval::of(2) * range.start)).high;
  // The error of a sum over features in any order is at most `sums` times the product of both lengths (at most 1 for a
  // sample), plus underflow; c/centre_norm has an additional error of half the width of the start.
  const double sums = (static_cast<double>(features) + 16) * 2 * unit_roundoff;
  range.inner_error =
      1.01 * (sums + direction_error()) * length + static_cast<double>(features) * std::numeric_limits<double>::min();
  range.sum_error = sums;
  range.reach_error = 2 * (sums + direction_error());

  LiftedBall result{.centre = std::move(box.centre), .half = std::move(box.half), .direction = {}, .range = range};
  for (const double x : result.centre) result.direction.push_back(range.has_cosine ? x / range.centre_norm : 0);
  const double rest = directions_.rest_length(result.direction);
  result.kept = directions_.keep(result.centre, 0);
  result.unit = directions_.keep(result.direction, rest);
  result.weigh = directions_.keep(result.half, directions_.rest_half(result.direction, result.half, rest));
  return result;
}

std::vector<SampleCosine> LiftedSupport::cosines(const LiftedBall& ball) const {
  const bool euclidean = problem_.options.norm == Norm::l2;
  const MatrixView<const double> rows = directions_.rows();
  const host::ResidualFrame frame{.size = rows.cols,
                                  .centre = ball.kept.data(),
                                  .unit = ball.unit.data(),
                                  .half = ball.weigh.data(),
                                  .norm = ball.range.centre_norm};
  std::vector<SampleCosine> result;
  for (Index i = 0; i < rows.rows; ++i) {
    const LiftedSample& sample = samples_[usize(i)];
    const auto [inner, reach] = host::residual_of(frame, rows.row(i), euclidean, sample.offset);
    result.push_back(cosine_of(ball.range, sample, inner, reach));
  }
  return result;
}

Interval LiftedSupport::deviation(const Interval& norm, int unit) const {
  const Interval one = Interval::of(1);
  return enclose_entry(chain(), {norm, one, one, problem_.exponents.point, 0}, false).scale.in_units_of(unit);
}

HeldBalls::HeldBalls(const LiftedSupport& support, bool euclidean, std::span<const LiftedBall> balls)
    : support_(support), euclidean_(euclidean) {
  const Index count = std::ssize(balls), size = support.directions().rows().cols;
  centre_ = Matrix<double>(count, size, Content::unset);
  unit_ = Matrix<double>(count, size, Content::unset);
  half_ = Matrix<double>(count, size, Content::unset);
  for (Index k = 0; k < count; ++k) {
    const LiftedBall& ball = balls[usize(k)];
    ranges_.push_back(ball.range);
    std::copy(ball.kept.begin(), ball.kept.end(), centre_.view().row(k));
    std::copy(ball.unit.begin(), ball.unit.end(), unit_.view().row(k));
    std::copy(ball.weigh.begin(), ball.weigh.end(), half_.view().row(k));
  }
}

ChainBalls HeldBalls::view() const {
  return {.chain = support_.chain(),
          .directions = support_.directions().held(),
          .samples = support_.samples(),
          .balls = ranges_,
          .centre = centre_.view(),
          .unit = unit_.view(),
          .half = half_.view(),
          .euclidean = euclidean_};
}

}  // namespace widelimit
