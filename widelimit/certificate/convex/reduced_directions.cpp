#include "widelimit/certificate/convex/reduced_directions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit {

ReducedDirections::ReducedDirections(const SupportGeometry& support)
    : used_(support.used), rows_(support.directions.view()) {
  if (std::ssize(used_) == rows_.cols) return;
  for (Index j = 0; j < rows_.cols; ++j) {
    if (!std::binary_search(used_.begin(), used_.end(), j)) rest_.push_back(j);
  }
  own_ = Matrix<double>(rows_.rows, std::ssize(used_) + 1, Content::unset);
  for (Index i = 0; i < rows_.rows; ++i) {
    double* row = own_.view().row(i);
    for (std::size_t j = 0; j < used_.size(); ++j) row[j] = rows_(i, used_[j]);
    row[used_.size()] = 0;
  }
  rows_ = std::as_const(own_).view();
}

ReducedDirections::ReducedDirections(const SupportGeometry& support, std::span<const double> factors)
    : ReducedDirections(support) {
  Matrix<double> scaled(rows_.rows, rows_.cols, Content::unset);
  for (Index i = 0; i < rows_.rows; ++i) {
    std::transform(rows_.row(i), rows_.row(i) + rows_.cols, scaled.view().row(i),
                   [&](double x) { return factors[at(i)] * x; });
  }
  own_ = std::move(scaled);
  rows_ = std::as_const(own_).view();
}

double ReducedDirections::rest_length(std::span<const double> unit) const {
  double squares = 0;
  for (const Index j : rest_) squares += unit[at(j)] * unit[at(j)];
  return std::sqrt(squares) * (1 + slack(unit.size()));
}

double ReducedDirections::rest_sum(std::span<const double> unit, std::span<const double> low,
                                   std::span<const double> high, bool larger) const {
  double sum = 0;
  for (const Index j : rest_) {
    const double left = unit[at(j)] * low[at(j)], right = unit[at(j)] * high[at(j)];
    sum += larger ? std::max(left, right) : std::min(left, right);
  }
  return sum;
}

double ReducedDirections::rest_half(std::span<const double> unit, std::span<const double> half, double rest) const {
  if (!(rest > 0)) return 0;
  std::vector<double> negative(half.size());
  std::transform(half.begin(), half.end(), negative.begin(), [](double x) { return -x; });
  return rest_sum(unit, negative, half, true) / rest * (1 + slack(half.size()));
}

double ReducedDirections::rest_total(std::span<const double> full) const {
  double sum = 0;
  for (const Index j : rest_) sum += full[at(j)];
  return sum;
}

std::vector<double> ReducedDirections::keep(std::span<const double> full, double rest) const {
  std::vector<double> kept;
  kept.reserve(at(rows_.cols));
  for (const Index j : used_) kept.push_back(full[at(j)]);
  if (!rest_.empty()) kept.push_back(rest);
  return kept;
}

}  // namespace widelimit
