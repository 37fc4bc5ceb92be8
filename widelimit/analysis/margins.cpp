#include "widelimit/analysis/margins.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double fewest_bins = 8;
constexpr double most_bins = 48;

double pair_margin(const double* row, Index truth, Index classes) {
  double least = std::numeric_limits<double>::infinity();
  Index output = 0;
  for (Index a = 0; a < classes; ++a) {
    for (Index b = a + 1; b < classes; ++b, ++output) {
      if (a == truth) least = std::min(least, row[output]);
      if (b == truth) least = std::min(least, -row[output]);
    }
  }
  return least;
}

double class_margin(const double* row, Index truth, Index classes) {
  double other = -std::numeric_limits<double>::infinity();
  for (Index c = 0; c < classes; ++c) {
    if (c != truth) other = std::max(other, row[c]);
  }
  return row[truth] - other;
}

double margin_of(Scheme scheme, Index classes, const double* row, Index truth) {
  if (scheme == Scheme::sign) return truth == 1 ? row[0] : -row[0];
  if (is_pairwise(scheme)) return pair_margin(row, truth, classes);
  return class_margin(row, truth, classes);
}

/// Returns bins that cover [low, high] with an edge at 0.
Histogram empty_histogram(double low, double high, double bins) {
  // Halved, since high − low can overflow.
  const double width = 2 * (high / 2 / bins - low / 2 / bins);
  const double least = std::max(std::abs(low), std::abs(high)) * 1e-6;
  Histogram result;
  if (std::max(width, least) > 0) result.width = std::max(width, least);
  const double before = std::floor(low / result.width);
  result.first = before * result.width;
  const auto count = static_cast<std::size_t>(std::floor(high / result.width) - before) + 1;
  result.counts.assign(count, 0);
  return result;
}

}  // namespace

std::vector<double> margins(Scheme scheme, Index classes, MatrixView<const double> decisions,
                            std::span<const Index> labels) {
  if (scheme == Scheme::values) fail(Code::usage, "a regression machine has no margins");
  if (classes < 2 || decisions.cols != output_count(scheme, classes) || decisions.rows != std::ssize(labels)) {
    fail(Code::usage, "{} by {} decisions do not match {} samples of {} classes", decisions.rows, decisions.cols,
         labels.size(), classes);
  }
  std::vector<double> result;
  result.reserve(labels.size());
  for (Index i = 0; i < decisions.rows; ++i) {
    const Index truth = labels[static_cast<std::size_t>(i)];
    if (truth < 0 || truth >= classes)
      fail(Code::usage, "label {} is {}; with {} classes it is out of range", i, truth, classes);
    result.push_back(margin_of(scheme, classes, decisions.row(i), truth));
  }
  return result;
}

std::vector<Histogram> histograms(std::span<const std::vector<double>> parts) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::size_t largest = 0;
  for (const auto& part : parts) {
    largest = std::max(largest, part.size());
    for (const double value : part) {
      if (!std::isfinite(value)) fail(Code::input, "{} cannot be counted in a histogram", value);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (largest == 0) return {};
  const double bins = std::clamp(std::ceil(2 * std::cbrt(static_cast<double>(largest))), fewest_bins, most_bins);
  std::vector<Histogram> result(parts.size(), empty_histogram(low, high, bins));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Histogram& histogram = result[p];
    const double before = std::floor(low / histogram.width);
    for (const double value : parts[p]) {
      const auto bin = static_cast<std::size_t>(std::floor(value / histogram.width) - before);
      ++histogram.counts[std::min(bin, histogram.counts.size() - 1)];
    }
  }
  return result;
}

}  // namespace widelimit
