#include "widelimit/analysis/comparison/paired_tests.hpp"

#include "widelimit/base/error.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

constexpr double upper_share = 0.975;  // quantile of a 95 % interval

/// Mean with standard error and degrees of freedom.
struct Mean {
  double value = 0;
  double error = 0;
  double freedom = 0;

  [[nodiscard]] double p() const {
    if (error == 0) return value == 0 ? 1 : 0;
    const boost::math::students_t_distribution<double> law(freedom);
    return 2 * boost::math::cdf(boost::math::complement(law, std::abs(value) / error));
  }
  [[nodiscard]] double half_width() const {
    return boost::math::quantile(boost::math::students_t_distribution<double>(freedom), upper_share) * error;
  }
};

Mean mean_of(std::span<const double> values, std::span<const double> weights) {
  if (values.size() < 2) fail(Code::usage, "{} values have no standard error; at least two are needed", values.size());
  const auto n = static_cast<double>(values.size());
  // Equal values: exact, without rounding.
  if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); })) {
    return {values.front(), 0, n - 1};
  }
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double sum = 0;
  double all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += weight(i) * values[i];
    all += weight(i);
  }
  const double mean = sum / all;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) squares += std::pow(weight(i) * (values[i] - mean), 2);
  return {mean, std::sqrt(n / (n - 1) * squares) / all, n - 1};
}

/// With the correction for overlapping training parts.
Mean fold_mean(std::span<const double> values, double ratio) {
  Mean mean = mean_of(values, {});
  mean.error *= std::sqrt(1 + ratio * static_cast<double>(values.size()));
  return mean;
}

}  // namespace

double mcnemar_p(Index only_first, Index only_second) {
  const Index n = only_first + only_second;
  if (n == 0) return 1;
  const boost::math::binomial_distribution<double> coins(static_cast<double>(n), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(coins, static_cast<double>(std::min(only_first, only_second))));
}

double paired_t_p(std::span<const double> differences, std::span<const double> weights) {
  return mean_of(differences, weights).p();
}

double t_half_width(std::span<const double> losses, std::span<const double> weights) {
  return mean_of(losses, weights).half_width();
}

double corrected_t_p(std::span<const double> differences, double ratio) { return fold_mean(differences, ratio).p(); }

double corrected_t_half_width(std::span<const double> errors, double ratio) {
  return fold_mean(errors, ratio).half_width();
}

Interval wilson_interval(Index successes, Index samples) {
  if (samples < 1) fail(Code::usage, "an interval needs at least one sample");
  const double z = boost::math::quantile(boost::math::normal_distribution<double>(), upper_share);
  const auto n = static_cast<double>(samples);
  const double share = static_cast<double>(successes) / n;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {successes == 0 ? 0.0 : std::max(0.0, middle - half),
          successes == samples ? 1.0 : std::min(1.0, middle + half)};
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - place) * p[order[place]]));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

}  // namespace widelimit
