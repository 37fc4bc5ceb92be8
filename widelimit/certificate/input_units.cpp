#include "widelimit/certificate/input_units.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// The error of a computed z is a few roundings of |x|/|scale|, |shift|/|scale| and |z|, for either evaluation of the
/// scaling: (x − shift)/scale, or a·x + b with rounded a and b. 2⁷ units of |z| + |shift|/|scale| cover the errors of z
/// and z' together.
constexpr double roundings = 0x1p7;
/// The part of these errors that grows with the radius, plus a few roundings of the radius itself.
constexpr double radius_slack = 0x1p-45;

}  // namespace

InputUnits::InputUnits(const Scaler* scaling, const CertifyOptions& options, Index features, Precision precision)
    : options_(options), shift_(usize(features), 0.0), scale_(usize(features), 1.0), widths_(usize(features), 1.0) {
  if (!options.widths.empty() && std::ssize(options.widths) != features) {
    fail(Code::usage, "{} half-widths for samples of {} features; give one for each", options.widths.size(), features);
  }
  if (options.box && options.box->size() > 1 && options.box->size() != features) {
    fail(Code::usage, "a box of {} features for samples of {}", options.box->size(), features);
  }
  const Scaling how = scaling != nullptr ? scaling->scaling() : Scaling::none;
  units_ = options.units.value_or(how == Scaling::unit ? CertificateUnits::scaled : CertificateUnits::input);
  if (how == Scaling::unit && (units_ == CertificateUnits::input || !options.widths.empty())) {
    fail(Code::usage,
         "the model divides each sample by its own norm: radii are those of the scaled samples, with one width for all "
         "features");
  }
  by_norm_ = how == Scaling::unit;
  by_feature_ = how != Scaling::none && !by_norm_;
  if (how == Scaling::byte) std::fill(scale_.begin(), scale_.end(), 255.0);
  if (by_feature_ && how != Scaling::byte) {
    shift_ = scaling->shift();
    scale_ = scaling->scale();
  }
  if (!options.widths.empty()) {
    widths_ = options.widths;
  } else if (units_ == CertificateUnits::scaled) {
    std::transform(scale_.begin(), scale_.end(), widths_.begin(), [](double s) { return std::abs(s); });
  }
  relative_.resize(usize(features));
  for (std::size_t j = 0; j < relative_.size(); ++j) {
    relative_[j] = by_feature_ ? above(widths_[j] / std::abs(scale_[j])) : widths_[j];
    if (widths_[j] == 0) relative_[j] = 0;
  }
  // Widths that are equal after scaling up to rounding define a cube.
  const auto [least, most] = std::minmax_element(relative_.begin(), relative_.end());
  largest_ = features > 0 ? *most : 1;
  const bool cube = features == 0 || *least >= *most * (1 - 0x1p-48);
  for (double& width : relative_) width = cube ? 1 : (width == 0 ? 0 : std::min(1.0, above(width / largest_)));
  if (!cube && options.norm == Norm::l2) {
    fail(Code::usage,
         "features are scaled by different factors, so that an l2 ball of samples is an ellipsoid after scaling; use "
         "the linf norm, or the scaled units");
  }
  if (by_feature_) roundoff_ = roundings * (precision == Precision::f32 ? 0x1p-24 : unit_roundoff);
}

double InputUnits::rounding(const double* z) const {
  double most = 0;
  if (!by_feature_) return most;
  for (std::size_t j = 0; j < relative_.size(); ++j) {
    if (relative_[j] == 0) continue;  // x_j is constant, hence z_j too
    most = std::max(most, (std::abs(z[j]) + std::abs(shift_[j] / scale_[j])) / relative_[j]);
  }
  return above(roundoff_ * most);
}

void InputUnits::check_box(const Box& scaled_box, MatrixView<const double> points) const {
  const bool input = units_ == CertificateUnits::input;
  for (Index i = 0; i < points.rows; ++i) {
    for (Index j = 0; j < points.cols; ++j) {
      if (points(i, j) >= scaled_box.low(j) && points(i, j) <= scaled_box.high(j)) continue;
      fail(
          Code::input,
          "sample {} has the value {} at feature {}{}, outside the box [{}, {}]; give a box that contains all samples, "
          "or none",
          i, input ? to_input(points(i, j), j) : points(i, j), j, input ? "" : " after scaling", options_.box->low(j),
          options_.box->high(j));
    }
  }
}

bool InputUnits::cubes() const {
  return std::all_of(relative_.begin(), relative_.end(), [](double d) { return d == 1; });
}

CertifyOptions InputUnits::scaled(MatrixView<const double> points) const {
  CertifyOptions result = options_;
  result.units.reset();
  result.widths = cubes() ? std::vector<double>{} : relative_;
  if (options_.box && by_feature_ && units_ == CertificateUnits::input) {
    std::vector<double> low, high;
    for (Index j = 0; j < points.cols; ++j) {
      const double shift = shift_[usize(j)], scale = scale_[usize(j)];
      const double a = (options_.box->low(j) - shift) / scale, b = (options_.box->high(j) - shift) / scale;
      const double slack = roundoff_ * (std::max(std::abs(a), std::abs(b)) + std::abs(shift / scale));
      low.push_back(below(std::min(a, b) - slack));
      high.push_back(above(std::max(a, b) + slack));
    }
    result.box = Box(std::move(low), std::move(high));
  }
  if (result.box) check_box(*result.box, points);
  if (options_.radius) {
    double most = 0;
    for (Index i = 0; i < points.rows; ++i) most = std::max(most, rounding(points.row(i)));
    const double slack = by_feature_ || largest_ != 1 ? radius_slack : 0;
    result.radius = *options_.radius * largest_ * (1 + slack) + most;
  }
  return result;
}

void InputUnits::restore(MatrixView<const double> points, Certificates& result) const {
  result.units = units_;
  if (!by_norm_) result.widths = widths_;
  if (!by_feature_ && largest_ == 1) return;
  for (Index i = 0; i < points.rows; ++i) {
    double& radius = result.radius[usize(i)];
    if (options_.radius) {
      if (radius > 0) radius = *options_.radius;
    } else if (radius > 0) {
      radius = std::max(0.0, (radius - rounding(points.row(i))) / largest_ * (1 - radius_slack));
    }
    if (!result.attack.empty()) result.attack[usize(i)] *= (1 + radius_slack) / largest_;
  }
  for (Index i = 0; by_feature_ && i < result.attacked.rows(); ++i) {
    for (Index j = 0; j < result.attacked.cols(); ++j) result.attacked(i, j) = to_input(result.attacked(i, j), j);
  }
}

}  // namespace widelimit
