#include "widelimit/certificate/convex/lifted_ball.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include "widelimit/certificate/interval/interval.hpp"

namespace widelimit {

namespace {

/// Products of samples with the centre c, and the largest |⟨z,y⟩| of y = xᵢ/‖x̃ᵢ‖ − ρ·c/‖c̃‖ over the ball.
class CentreProducts {
 public:
  /// `length` is ‖c‖.
  CentreProducts(const LiftedBall& ball, double length, bool euclidean)
      : ball_(ball),
        euclidean_(euclidean),
        length_(length),
        error_((static_cast<double>(ball.half.size()) + 16) * 2 * unit_roundoff) {
    for (const double x : ball.centre) direction_.push_back(x / ball.start.low);
  }

  /// ⟨c, xᵢ⟩: sums in any order are off by size units of the product of both lengths, and by what underflows.
  [[nodiscard]] Interval inner(const double* sample, double length) const {
    double sum = 0;
    for (std::size_t j = 0; j < direction_.size(); ++j) sum += ball_.centre[j] * sample[j];
    const double least = static_cast<double>(direction_.size()) * std::numeric_limits<double>::min();
    const double error = error_ * length_ * length + least;
    return outward(sum - error, sum + error);
  }

  /// y is off by a few units of its two terms, of which ⟨z,·⟩ ≤ ‖z‖, and by what ρ is off; the sum by size units.
  [[nodiscard]] double reach(const double* sample, double norm, const Interval& rho) const {
    const double inverse = 1 / norm, middle = rho.middle();
    double sum = 0;
    for (std::size_t j = 0; j < direction_.size(); ++j) {
      const double y = sample[j] * inverse - middle * direction_[j];
      sum += euclidean_ ? y * y : ball_.half[j] * std::abs(y);
    }
    const double found = euclidean_ ? ball_.radius * std::sqrt(sum) : sum;
    return (found * (1 + error_) + ball_.step * (2 * error_ + rho.width())) * (1 + 8 * unit_roundoff);
  }

 private:
  const LiftedBall& ball_;
  bool euclidean_;
  double length_, error_;
  std::vector<double> direction_;
};

}  // namespace

LiftedBall lift_ball(const ChainProblem& problem, const Ranges& ranges, const Ball& ball) {
  const Interval lift_at_1 = lifted_coordinate(problem.chain);
  const auto lifted = [](const Interval& norm, const Interval& lift) { return sqrt(norm * norm + lift * lift); };
  const Interval lift = scaled(lift_at_1, -problem.exponents.point);
  const SupportGeometry& support = problem.geometry.support;
  const double slack = 2 * support.norm_error;
  const auto around = [&](double length) { return outward(length * (1 - slack), length * (1 + slack)); };
  const bool euclidean = problem.options.norm == Norm::l2;
  const Index features = problem.points.cols;

  LiftedBall result{.radius = above(ball.radius), .exponent = problem.exponents.point};
  Surrounding box = ranges.surrounding(ball);
  if (euclidean) {
    // A ball about the point is one about no other centre.
    std::copy_n(problem.points.row(ball.point), features, box.centre.begin());
    std::fill(box.half.begin(), box.half.end(), result.radius);
  }
  result.centre = std::move(box.centre);
  result.half = std::move(box.half);
  const double centre_length = euclidean_norm(result.centre.data(), features);
  result.start = lifted(around(centre_length), lift);
  result.norm = hull(lifted(ranges.norm_range(ball), lift), result.start);
  const bool has_cosine = result.norm.low > 0;
  result.step = euclidean ? result.radius : around(euclidean_norm(result.half.data(), features)).high;
  const Interval step = Interval::of(result.step);
  if (has_cosine) result.bulge = (step * step / (Interval::of(2) * result.start)).high;

  const CentreProducts products(result, centre_length, euclidean);
  for (Index i = 0; i < problem.support.rows; ++i) {
    const double length = support.norms[usize(i)];
    const int exponent = problem.row_exponent(i);
    const Interval own_lift = scaled(lift_at_1, -exponent);
    SampleCosine sample{.norm = lifted(around(length), own_lift), .exponent = exponent};
    sample.has_cosine = has_cosine && sample.norm.low > 0;
    if (sample.has_cosine) {
      const double* row = problem.support.row(i);
      const Interval product = products.inner(row, length) + lift * own_lift;
      sample.start = clamp(product / (result.start * sample.norm), -1, 1);
      sample.reach = above(above(products.reach(row, sample.norm.low, sample.start)) +
                           above(sample.start.modulus() * result.bulge));
      const Interval turn = Interval::of(sample.reach) / result.norm;
      sample.rho = clamp(Interval{(sample.start - turn).low, (sample.start + turn).high}, -1, 1);
    }
    result.samples.push_back(sample);
  }
  return result;
}

}  // namespace widelimit
