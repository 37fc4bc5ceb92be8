#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// How far entries of a product Kv may be from what they are given as: lengths[i]·relative + absolute, lengths = √K_ii.
/// By default not at all.
struct ProductError {
  std::span<const double> lengths = {};
  double relative = 0;
  double absolute = 0;

  [[nodiscard]] bool counted() const { return !lengths.empty(); }
  /// A row of zeros has products of zeros.
  [[nodiscard]] double at(std::size_t i) const {
    return counted() && lengths[i] > 0 ? lengths[i] * relative + absolute : 0;
  }
};

/// Rounding of products with a Gram matrix. Since |K_ij| ≤ √(K_ii K_jj), a sum over m coefficients is right to
/// γ_m √K_ii Σ√K_jj|v_j|; carried in twice the precision, to γ_m² of that and u of itself.
class ProductRounding {
 public:
  /// K stands for its symmetric part, |K_ij − K_ji| ≤ asymmetry·√(K_ii K_jj) as its check says, and is positive
  /// semi-definite up to what is_semidefinite allows.
  ProductRounding(const GramMatrix& k, double asymmetry);
  /// From √K_ii, and how far |K_ij| may exceed √(K_ii K_jj).
  ProductRounding(std::vector<double> lengths, double asymmetry, double excess)
      : lengths_(std::move(lengths)), asymmetry_(asymmetry), excess_(excess) {}

  [[nodiscard]] std::span<const double> lengths() const { return lengths_; }
  /// The least vᵀKv that rounding of K explains: −excess·Σv_i²K_ii.
  [[nodiscard]] double least_square(MatrixView<const double> v, Index column) const;
  /// Σ√K_jj|v_j| ≥ √(vᵀKv), upwards, of one column.
  [[nodiscard]] double size_of(MatrixView<const double> v, Index column) const;
  /// Of a product with `terms` coefficients of that size.
  [[nodiscard]] ProductError error(double size, Index terms, bool precise) const;
  /// Of a product with a column of v.
  [[nodiscard]] ProductError error_of(MatrixView<const double> v, Index column, bool precise) const {
    return error(size_of(v, column), v.rows, precise);
  }

 private:
  std::vector<double> lengths_;
  double asymmetry_;
  double excess_;
};

}  // namespace widelimit
