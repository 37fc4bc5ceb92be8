#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace widelimit {

/// Unit roundoff u: a float64 operation has relative error at most u.
inline constexpr double unit_rounding = 0x1p-53;
/// Absolute error of an operation whose result underflows.
inline constexpr double underflow_unit = 0x1p-1074;

/// γ_n = nu/(1 − nu): a sum of n products, in any order, has an error of at most γ_n times the sum of their absolute
/// values (Higham 2002, §3.1).
[[nodiscard]] constexpr double rounding_of(Index operations) {
  const double part = static_cast<double>(operations) * unit_rounding;
  return part / (1 - part);
}

/// Compensated sum: carries the rounding errors of its additions, as if computed in twice the working precision (Ogita,
/// Rump and Oishi 2005). Its error is at most u times the sum plus γ_n² times the sum of the absolute values.
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    const double part = sum - sum_;
    rest_ += (sum_ - (sum - part)) + (term - part);
    sum_ = sum;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    rest_ += std::fma(a, b, -product);
  }
  [[nodiscard]] double value() const { return sum_ + rest_; }
  /// Returns the negated sum.
  [[nodiscard]] CompensatedSum negated() const {
    CompensatedSum result;
    result.sum_ = -sum_;
    result.rest_ = -rest_;
    return result;
  }
  /// Whether all additions were exact.
  [[nodiscard]] bool exact() const { return rest_ == 0; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

/// Error bound for the entries of a product Kv: lengths[i]·relative + absolute with lengths = √K_ii. Zero by default.
struct ProductError {
  std::span<const double> lengths = {};
  double relative = 0;
  double absolute = 0;

  [[nodiscard]] bool counted() const { return !lengths.empty(); }
  /// A zero row yields exact zeros.
  [[nodiscard]] double at(std::size_t i) const {
    return counted() && lengths[i] > 0 ? lengths[i] * relative + absolute : 0;
  }
};

/// Rounding error of products with a Gram matrix. Since |K_ij| ≤ √(K_ii K_jj), a sum of m terms has an error of at most
/// γ_m √K_ii Σ√K_jj|v_j|; in doubled precision, γ_m² of that plus u times the result.
class ProductRounding {
 public:
  /// K denotes its symmetric part, with |K_ij − K_ji| ≤ asymmetry·√(K_ii K_jj) from its check, and is positive
  /// semi-definite up to the tolerance of is_semidefinite.
  ProductRounding(const GramMatrix& k, double asymmetry);
  /// Constructs it from √K_ii and the relative excess of |K_ij| over √(K_ii K_jj).
  ProductRounding(std::vector<double> lengths, double asymmetry, double excess)
      : lengths_(std::move(lengths)), asymmetry_(asymmetry), excess_(excess) {}

  [[nodiscard]] std::span<const double> lengths() const { return lengths_; }
  /// Returns the smallest vᵀKv that rounding of K can produce: −excess·Σv_i²K_ii.
  [[nodiscard]] double least_square(MatrixView<const double> v, Index column) const;
  /// Returns Σ√K_jj|v_j| ≥ √(vᵀKv) of one column, rounded up.
  [[nodiscard]] double size_of(MatrixView<const double> v, Index column) const;
  /// Returns the error of a product with `terms` coefficients of total size `size`.
  [[nodiscard]] ProductError error(double size, Index terms, bool precise) const;
  /// Returns the error of a product with a column of v.
  [[nodiscard]] ProductError error_of(MatrixView<const double> v, Index column, bool precise) const {
    return error(size_of(v, column), v.rows, precise);
  }

 private:
  std::vector<double> lengths_;
  double asymmetry_;
  double excess_;
};

}  // namespace widelimit
