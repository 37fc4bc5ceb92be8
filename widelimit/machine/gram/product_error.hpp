#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <span>
#include <vector>

namespace widelimit {

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
