#pragma once

#include "widelimit/machine/gram/dense_gram.hpp"

#include <vector>

namespace widelimit {

/// K = LLᵀ, L of n rows and as many columns as K has rank in its precision: samples as vectors of features, in which a
/// machine is a linear one, h = Lβ. Where K is singular and λ small, β keeps digits that α loses, since a part of α
/// that K sends to 0 may grow as 1/λ.
class GramFactor {
 public:
  /// Cholesky; with pivots down to 4√n·ε·max Kᵢᵢ, which rounding may leave of 0, where K is singular.  O(n·rank²) and
  /// n² doubles. `progress` may stop it.
  explicit GramFactor(const DenseGram& k, int threads = 0, Progress* progress = nullptr);

  [[nodiscard]] Index count() const { return rows_.rows(); }
  [[nodiscard]] Index rank() const { return rank_; }
  /// Whether K is positive semi-definite up to rounding; if not, LLᵀ is not K.
  [[nodiscard]] bool complete() const { return complete_; }
  /// h = Lβ for `columns` row-major columns.  O(n·rank·columns).
  void values(const double* beta, double* h, Index columns = 1) const;
  /// c = Lᵀr.
  void pull(const double* r, double* c, Index columns = 1) const;
  /// α with Kα = Lβ, zero for samples without a pivot.
  void coefficients(const double* beta, double* alpha, Index columns = 1) const;
  /// rows × rank: sample `order()[i]` is row i.
  [[nodiscard]] MatrixView<const double> rows() const { return {rows_.data(), count(), rank_, rows_.cols()}; }
  [[nodiscard]] const std::vector<Index>& order() const { return order_; }

 private:
  /// The first rows of L, lower triangular, and the others.
  [[nodiscard]] MatrixView<const double> triangle() const { return rows_.view().block(0, 0, rank_, rank_); }
  [[nodiscard]] MatrixView<const double> below() const { return rows_.view().block(rank_, 0, count() - rank_, rank_); }
  [[nodiscard]] bool factorise_plainly(const DenseGram& k, double least, Progress* progress);

  Matrix<double> rows_;  ///< row-major, in the order of the pivots
  std::vector<Index> order_;
  Index rank_ = 0;
  bool complete_ = true;
};

}  // namespace widelimit
