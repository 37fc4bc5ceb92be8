#include "widelimit/certificate/ranges.hpp"

#include "widelimit/backend/cpu/gemm.hpp"
#include "widelimit/base/blas.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/interval.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr double range_unit = 0x1p-53;

/// Directions of the rows from `begin` on, and their norms.
void normalise_rows(MatrixView<const double> rows, Index begin, Index end, MatrixView<double> to, double* norms) {
  for (Index i = begin; i < end; ++i) {
    const double norm = norms[i] = euclidean_norm(rows.row(i), rows.cols);
    for (Index j = 0; j < rows.cols; ++j) to(i, j) = norm > 0 ? rows(i, j) / norm : 0;
  }
}

}  // namespace

double euclidean_norm(const double* row, Index size) {
  long double sum = 0;
  for (Index j = 0; j < size; ++j) sum += static_cast<long double>(row[j]) * row[j];
  return static_cast<double>(std::sqrt(sum));
}

double sum_norm(const double* row, Index size) {
  long double sum = 0;
  for (Index j = 0; j < size; ++j) sum += std::abs(static_cast<long double>(row[j]));
  return static_cast<double>(sum);
}

Ranges::Ranges(MatrixView<const double> support, MatrixView<const double> points, const CertifyOptions& options, Of of)
    : support_(support),
      points_(points),
      options_(options),
      of_(of),
      directions_(support.rows, support.cols, Content::unset),
      norms_(at(support.rows)),
      spread_(at(support.rows)),
      inner_(points.rows, support.rows, Content::unset),
      point_norms_(at(points.rows)) {
  choose_blas_kernels();
  const auto features = static_cast<double>(support.cols);
  const auto supports = support.rows;
  // A sum of d squares in long double, then a root and a rounding to double.
  norm_error_ = (2 + features * 0x1p-11) * range_unit;
  // A product of d terms in any order, of directions that are off by two roundings and the norm's error.
  inner_error_ = 1.01 * (features + 4) * range_unit + norm_error_;
  const bool flat = of == Of::published || options.norm == Norm::l2;
  const double published = options.norm == Norm::linf ? above(std::sqrt(features)) : 1;
  constexpr Index rows_at_once = 256;
  parallel_for((supports + rows_at_once - 1) / rows_at_once, team_size(options.threads), [&](Index task) {
    const Index begin = task * rows_at_once, end = std::min(supports, begin + rows_at_once);
    normalise_rows(support, begin, end, directions_.view(), norms_.data());
    for (Index i = begin; i < end; ++i) {
      spread_[at(i)] = flat ? published : sum_norm(directions_.view().row(i), support.cols) * (1 + 2 * norm_error_);
    }
  });
  const bool signs =
      std::any_of(directions_.data(), directions_.data() + supports * support.cols, [](double x) { return x < 0; });
  if (signs && of == Of::ball && options.box) {
    absolute_ = Matrix<double>(supports, support.cols, Content::unset);
    std::transform(directions_.data(), directions_.data() + supports * support.cols, absolute_.data(),
                   [](double x) { return std::abs(x); });
  }
  constexpr Index points_at_once = 32;
  parallel_for((points.rows + points_at_once - 1) / points_at_once, team_size(options.threads), [&](Index task) {
    const Index begin = task * points_at_once;
    const Index count = std::min(points_at_once, points.rows - begin);
    cpu::multiply_transposed(points.block(begin, 0, count, points.cols), directions(),
                             inner_.view().block(begin, 0, count, supports));
    for (Index k = begin; k < begin + count; ++k) {
      point_norms_[at(k)] = euclidean_norm(points.row(k), points.cols);
    }
  });
}

Surrounding Ranges::surrounding(const Ball& ball) const {
  const Index size = points_.cols;
  Surrounding result{std::vector<double>(at(size)), std::vector<double>(at(size))};
  const double* x = points_.row(ball.point);
  for (Index j = 0; j < size; ++j) {
    double low = below(x[j] - ball.radius), high = above(x[j] + ball.radius);
    if (options_.box) {
      low = std::clamp(low, options_.box->low, options_.box->high);
      high = std::clamp(high, options_.box->low, options_.box->high);
    }
    const double centre = result.centre[at(j)] = low + (high - low) / 2;
    result.half[at(j)] = above(std::max(high - centre, centre - low));
  }
  return result;
}

NormRange Ranges::norm_range(const Ball& ball) const {
  const double norm = point_norms_[at(ball.point)];
  const double slack = 4 * norm_error_;
  if (of_ == Of::published) {
    const double reach = ball.radius * (options_.norm == Norm::linf ? std::sqrt(static_cast<double>(points_.cols)) : 1);
    return {std::max(0.0, norm - reach - slack * (norm + reach)), (norm + reach) * (1 + slack)};
  }
  long double least = 0, most = 0;
  const double* x = points_.row(ball.point);
  for (Index j = 0; j < points_.cols; ++j) {
    double low = below(x[j] - ball.radius), high = above(x[j] + ball.radius);
    if (options_.box) {
      low = std::clamp(low, options_.box->low, options_.box->high);
      high = std::clamp(high, options_.box->low, options_.box->high);
    }
    const long double near = std::max({low, -high, 0.0}), far = std::max(high, -low);
    least += near * near;
    most += far * far;
  }
  NormRange range{static_cast<double>(std::sqrt(least)) * (1 - slack),
                  static_cast<double>(std::sqrt(most)) * (1 + slack)};
  if (options_.norm == Norm::l2) {
    range.low = std::max(range.low, norm - ball.radius - slack * (norm + ball.radius));
    range.high = std::min(range.high, (norm + ball.radius) * (1 + slack));
  }
  return range;
}

/// From the point itself by what the radius allows.
void Ranges::widen(const Ball& ball, const NormRange& norm, double* low, double* high) const {
  const double error = (inner_error_ + 8 * range_unit) * point_norms_[at(ball.point)];
  const double radius = ball.radius * (1 + 8 * range_unit);
  const double* a = inner_.view().row(ball.point);
  const Index count = support_.rows;
  for (Index i = 0; i < count; ++i) {
    const double reach = radius * spread_[at(i)] + error;
    low[i] = std::max(a[i] - reach, -norm.high);
    high[i] = std::min(a[i] + reach, norm.high);
  }
}

/// ⟨xᵢ, centre⟩ ± ⟨|xᵢ|, half⟩ over the box that surrounds ball ∩ box.
void Ranges::cut_by_box(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high) const {
  const Index count = std::ssize(balls), size = points_.cols;
  Matrix<double> centres(count, size, Content::unset), halves(count, size, Content::unset);
  std::vector<double> errors;
  for (Index k = 0; k < count; ++k) {
    const Surrounding box = surrounding(balls[at(k)]);
    std::copy(box.centre.begin(), box.centre.end(), centres.view().row(k));
    std::copy(box.half.begin(), box.half.end(), halves.view().row(k));
    const double lengths = euclidean_norm(box.centre.data(), size) + euclidean_norm(box.half.data(), size);
    errors.push_back((inner_error_ + 8 * range_unit) * lengths);
  }
  const Index supports = support_.rows;
  Matrix<double> middle(count, supports, Content::unset), reach(count, supports, Content::unset);
  cpu::multiply_transposed(centres.view(), directions(), middle.view());
  cpu::multiply_transposed(halves.view(), absolute_.rows() > 0 ? absolute_.view() : directions_.view(), reach.view());
  for (Index k = 0; k < count; ++k) {
    const double error = errors[at(k)];
    double* lows = low.row(k);
    double* highs = high.row(k);
    const double* m = middle.view().row(k);
    const double* r = reach.view().row(k);
    for (Index i = 0; i < supports; ++i) {
      lows[i] = std::max(lows[i], m[i] - (r[i] + error));
      highs[i] = std::min(highs[i], m[i] + (r[i] + error));
    }
  }
}

void Ranges::evaluate(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high,
                      std::span<NormRange> norms) const {
  for (std::size_t k = 0; k < balls.size(); ++k) {
    norms[k] = norm_range(balls[k]);
    widen(balls[k], norms[k], low.row(static_cast<Index>(k)), high.row(static_cast<Index>(k)));
  }
  if (of_ == Of::ball && options_.box) cut_by_box(balls, low, high);
}

}  // namespace widelimit
