#include "widelimit/machine/gram/rounding.hpp"

#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

ProductRounding::ProductRounding(const GramMatrix& k, double asymmetry)
    : asymmetry_(asymmetry), excess_(2 * semidefinite_allowance(k.samples(), k.precision())) {
  for (const double own : k.diagonal()) lengths_.push_back(std::sqrt(std::max(0.0, own)));
}

double ProductRounding::least_square(MatrixView<const double> v, Index column) const {
  double squares = 0;
  for (Index i = 0; i < v.rows; ++i) squares += std::pow(lengths_[static_cast<std::size_t>(i)] * v(i, column), 2);
  return -excess_ * squares;
}

double ProductRounding::size_of(MatrixView<const double> v, Index column) const {
  double size = 0;
  for (Index i = 0; i < v.rows; ++i) size += lengths_[static_cast<std::size_t>(i)] * std::abs(v(i, column));
  return size * (1 + rounding_of(v.rows + 4));
}

ProductError ProductRounding::error(double size, Index terms, bool precise) const {
  const double plain = rounding_of(terms + 4);
  const double relative = (precise ? plain * plain : plain) * (1 + excess_) + asymmetry_ / 2;
  return {lengths_, 1.01 * relative * size, 2 * static_cast<double>(terms) * underflow_unit};
}

}  // namespace widelimit
