#include "widelimit/certificate/binary_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

double largest_modulus(const double* row, Index size) {
  double largest = 0;
  for (Index j = 0; j < size; ++j) largest = std::max(largest, std::abs(row[j]));
  return largest;
}

}  // namespace

std::vector<int> row_exponents(MatrixView<const double> rows, double beside) {
  std::vector<int> exponents;
  for (Index i = 0; i < rows.rows; ++i) {
    exponents.push_back(scale_exponent(std::max(largest_modulus(rows.row(i), rows.cols), beside)));
  }
  return exponents;
}

void scale_down(std::span<const double> from, int exponent, double* to) {
  for (const double x : from) *to++ = std::ldexp(x, -exponent);
}

double representable(double x, int exponent) {
  if (exponent == 0) return x;
  constexpr double most = std::numeric_limits<double>::max();
  return std::ldexp(std::clamp(std::ldexp(x, exponent), -most, most), -exponent);
}

double unscaled_radius(double r, int exponent) {
  return std::min(ldexp_below(r, exponent), std::numeric_limits<double>::max());
}

double unscaled_bound(double bound, int exponent) {
  const double least = bound - underflow_allowance;
  if (exponent == 0 || !std::isfinite(least)) return least;
  const double y = std::ldexp(least, exponent);
  if (least > 0) return std::clamp(y, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max());
  return y;
}

}  // namespace widelimit
