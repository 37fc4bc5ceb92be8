#include "widelimit/certificate/interval/ranges.hpp"

#include "widelimit/certificate/certify.hpp"
#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Change of a per unit of radius, if it is the same for all samples.
double common_spread(Norm norm, Index features) {
  return norm == Norm::linf ? above(std::sqrt(static_cast<double>(features))) : 1;
}

}  // namespace

Ranges::Ranges(const CertificateProblem& problem, Of of)
    : support_owner_(problem.geometry != nullptr
                         ? nullptr
                         : std::make_shared<SupportGeometry>(problem.support, problem.options, problem.engine)),
      points_owner_(problem.geometry != nullptr
                        ? nullptr
                        : std::make_shared<PointGeometry>(*support_owner_, problem.points, problem.engine)),
      geometry_(problem.geometry != nullptr ? *problem.geometry : *points_owner_),
      points_(problem.points),
      shape_(problem.options.shape()),
      of_(of) {}

Ranges::Ranges(const PointGeometry& geometry, MatrixView<const double> points, const CertifyOptions& options, Of of)
    : geometry_(geometry), points_(points), shape_(options.shape()), of_(of) {}

Surrounding Ranges::surrounding(const Ball& ball) const {
  const Index size = points_.cols;
  Surrounding result{std::vector<double>(usize(size)), std::vector<double>(usize(size))};
  const double* x = points_.row(ball.point);
  for (Index j = 0; j < size; ++j) {
    const double reach = shape_.reach(ball.radius, j);
    double low = below(x[j] - reach), high = above(x[j] + reach);
    if (shape_.box) {
      low = shape_.box->clamp(low, j);
      high = shape_.box->clamp(high, j);
    }
    const double centre = result.centre[usize(j)] = low + (high - low) / 2;
    result.half[usize(j)] = above(std::max(high - centre, centre - low));
  }
  return result;
}

Interval Ranges::norm_range(const Ball& ball) const {
  const double norm = geometry_.norms[usize(ball.point)];
  const double slack = 4 * norm_error();
  if (of_ == Of::published) {
    const double reach = ball.radius * common_spread(shape_.norm, points_.cols);
    return {std::max(0.0, norm - reach - slack * (norm + reach)), (norm + reach) * (1 + slack)};
  }
  long double least = 0, most = 0;
  const double* x = points_.row(ball.point);
  for (Index j = 0; j < points_.cols; ++j) {
    const double reach = shape_.reach(ball.radius, j);
    double low = x[j] - reach, high = x[j] + reach;
    if (shape_.box) {
      low = shape_.box->clamp(low, j);
      high = shape_.box->clamp(high, j);
    }
    const long double near = std::max({low, -high, 0.0}), far = std::max(high, -low);
    least += near * near;
    most += far * far;
  }
  Interval range{static_cast<double>(std::sqrt(least)) * (1 - slack),
                 static_cast<double>(std::sqrt(most)) * (1 + slack)};
  if (shape_.norm == Norm::l2) {
    range.low = std::max(range.low, norm - ball.radius - slack * (norm + ball.radius));
    range.high = std::min(range.high, (norm + ball.radius) * (1 + slack));
  }
  return range;
}

Ranges::Widening Ranges::widening(const Ball& ball) const {
  const double spread = common() ? common_spread(shape_.norm, points_.cols) : 1;
  return {.radius = ball.radius * spread * (1 + 8 * unit_roundoff),
          .error = (geometry_.inner_error + 8 * unit_roundoff) * geometry_.norms[usize(ball.point)]};
}

/// Relative to the value at the point.
host::ConeSpread Ranges::spread(const Ball& ball, const Interval& norm, Index begin) const {
  const auto [radius, error] = widening(ball);
  return {.a = geometry_.inner.view().row(ball.point) + begin,
          .spread = common() ? nullptr : geometry_.support.sum_norms.data() + begin,
          .radius = radius,
          .error = error,
          .limit = norm.high};
}

void Ranges::widen(const Ball& ball, const Interval& norm, Index begin, Index count, double* low, double* high) const {
  host::widen_ranges(spread(ball, norm, begin), count, low, high);
}

double Ranges::surround(const Ball& ball, double* centre, double* half) const {
  const Surrounding box = surrounding(ball);
  std::copy(box.centre.begin(), box.centre.end(), centre);
  std::copy(box.half.begin(), box.half.end(), half);
  const double lengths = euclidean_norm(centre, points_.cols) + euclidean_norm(half, points_.cols);
  return (geometry_.inner_error + 8 * unit_roundoff) * lengths;
}

/// ⟨xᵢ, centre⟩ ± ⟨|xᵢ|, half⟩ over the box that surrounds ball ∩ box.
void Ranges::cut_by_box(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high) const {
  const Index count = std::ssize(balls), size = points_.cols;
  Matrix<double> centres(count, size, Content::unset), halves(count, size, Content::unset);
  std::vector<double> errors;
  for (Index k = 0; k < count; ++k) {
    errors.push_back(surround(balls[usize(k)], centres.view().row(k), halves.view().row(k)));
  }
  const Index supports = geometry_.inner.cols();
  const Matrix<double>& absolute = geometry_.support.absolute;
  std::vector<double> middles(usize(count * supports)), reaches(usize(count * supports));
  const MatrixView<double> middle{middles.data(), count, supports, supports},
      reach{reaches.data(), count, supports, supports};
  host::product<double>(1, Transpose::no, centres.view(), Transpose::yes, directions(), 0, middle);
  host::product<double>(1, Transpose::no, halves.view(), Transpose::yes,
                        absolute.rows() > 0 ? absolute.view() : directions(), 0, reach);
  for (Index k = 0; k < count; ++k) {
    const double error = errors[usize(k)];
    double* lows = low.row(k);
    double* highs = high.row(k);
    const double* m = middle.row(k);
    const double* r = reach.row(k);
    for (Index i = 0; i < supports; ++i) {
      lows[i] = std::max(lows[i], m[i] - (r[i] + error));
      highs[i] = std::min(highs[i], m[i] + (r[i] + error));
    }
  }
}

void Ranges::evaluate(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high,
                      std::span<Interval> norms) const {
  for (std::size_t k = 0; k < balls.size(); ++k) {
    norms[k] = norm_range(balls[k]);
    const auto row = static_cast<Index>(k);
    widen(balls[k], norms[k], 0, geometry_.inner.cols(), low.row(row), high.row(row));
  }
  if (boxed()) cut_by_box(balls, low, high);
}

}  // namespace widelimit
