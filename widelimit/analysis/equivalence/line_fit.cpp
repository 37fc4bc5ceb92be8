#include "widelimit/analysis/equivalence/line_fit.hpp"

#include "widelimit/base/error.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <cmath>

namespace widelimit {

namespace {

/// Quantile of Student's t for a two-sided 95 % interval.
constexpr double upper_share = 0.975;

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<LineFit> fit_line(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size())
    fail(Code::usage, "a line fit needs as many x as y; there are {} and {}", x.size(), y.size());
  if (x.empty()) return std::nullopt;
  const double x_mean = mean_of(x);
  const double y_mean = mean_of(y);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  if (!(xx > 0) || !std::isfinite(xx) || !std::isfinite(xy)) return std::nullopt;
  LineFit fit{.slope = xy / xx, .intercept = y_mean - xy / xx * x_mean, .interval = {}, .points = std::ssize(x)};
  if (fit.points < 3) return fit;
  double residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = y[i] - fit.intercept - fit.slope * x[i];
    residual += error * error;
  }
  const auto freedom = static_cast<double>(fit.points - 2);
  const double half =
      boost::math::quantile(boost::math::students_t(freedom), upper_share) * std::sqrt(residual / freedom / xx);
  fit.interval = std::pair(fit.slope - half, fit.slope + half);
  return fit;
}

}  // namespace widelimit
