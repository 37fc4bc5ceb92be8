#include "widelimit/analysis/equivalence/line_fit.hpp"

#include "widelimit/base/error.hpp"

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <cmath>
#include <map>

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

namespace {

/// Running mean and variance of the y at one x.
struct Repeats {
  double count = 0;
  double mean = 0;
  double squares = 0;  ///< Σ (y − mean)²

  void add(double y) {
    ++count;
    const double before = y - mean;
    mean += before / count;
    squares += before * (y - mean);
  }
  /// Variance of the mean.
  [[nodiscard]] double variance() const { return squares / (count - 1) / count; }
};

std::map<double, Repeats> repeats_by_place(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) fail(Code::usage, "slopes need as many x as y; there are {} and {}", x.size(), y.size());
  std::map<double, Repeats> places;
  for (std::size_t i = 0; i < x.size(); ++i) places[x[i]].add(y[i]);
  return places;
}

}  // namespace

std::vector<LocalSlope> local_slopes(std::span<const double> x, std::span<const double> y) {
  std::vector<LocalSlope> slopes;
  const std::pair<const double, Repeats>* before = nullptr;
  const std::map<double, Repeats> places = repeats_by_place(x, y);
  for (const auto& place : places) {
    if (before != nullptr) {
      const double length = place.first - before->first;
      LocalSlope slope{before->first, place.first, (place.second.mean - before->second.mean) / length, {}};
      if (place.second.count > 1 && before->second.count > 1) {
        slope.error = std::sqrt(place.second.variance() + before->second.variance()) / length;
      }
      slopes.push_back(slope);
    }
    before = &place;
  }
  return slopes;
}

std::optional<double> lack_of_fit(std::span<const double> x, std::span<const double> y) {
  const std::map<double, Repeats> places = repeats_by_place(x, y);
  const auto line = fit_line(x, y);
  const double bends = static_cast<double>(places.size()) - 2;
  const double repeats = static_cast<double>(x.size()) - static_cast<double>(places.size());
  if (!line || bends < 1 || repeats < 1) return std::nullopt;
  double bent = 0;
  double scatter = 0;
  for (const auto& [place, values] : places) {
    const double error = values.mean - line->intercept - line->slope * place;
    bent += values.count * error * error;
    scatter += values.squares;
  }
  if (bent == 0) return 1.0;
  if (scatter == 0) return 0.0;
  const double ratio = bent / bends / (scatter / repeats);
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f(bends, repeats), ratio));
}

}  // namespace widelimit
