#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <vector>

namespace widelimit {

/// K = LLᵀ, L of n rows and as many columns as K has rank in its precision: samples as vectors of features, in which a
/// machine is a linear one, h = Lβ. Where K is singular and λ small, β keeps digits that α loses, since a part of α
/// that K sends to 0 may grow as 1/λ. Lies on the engine of K.
class GramFactor {
 public:
  /// Cholesky; with pivots down to 4√n·ε·max Kᵢᵢ, which rounding may leave of 0, where K is singular.  O(n·rank²) and
  /// n² doubles. `progress` may stop it.
  explicit GramFactor(const GramMatrix& k, Progress* progress = nullptr);

  [[nodiscard]] const Algebra& algebra() const { return algebra_; }
  [[nodiscard]] Index count() const { return l_.rows(); }
  [[nodiscard]] Index rank() const { return rank_; }
  /// Whether K is positive semi-definite up to rounding; if not, LLᵀ is not K.
  [[nodiscard]] bool complete() const { return complete_; }
  /// h = Lβ for `columns` row-major columns.  O(n·rank·columns).
  void values(const double* beta, double* h, Index columns = 1) const;
  /// c = Lᵀr.
  void pull(const double* r, double* c, Index columns = 1) const;
  /// α with Kα = Lβ, zero for samples without a pivot.
  void coefficients(const double* beta, double* alpha, Index columns = 1) const;
  /// L, samples × rank: sample `order()[i]` is row i.
  [[nodiscard]] EngineMatrix rows() const { return l_.block(0, 0, count(), rank_); }
  [[nodiscard]] const std::vector<Index>& order() const { return order_; }
  /// A number for each sample, in the order of the rows.
  [[nodiscard]] std::vector<double> ordered(const std::vector<double>& of_samples) const;

 private:
  /// The first rows of L, lower triangular, and the others.
  [[nodiscard]] EngineMatrix triangle() const { return l_.block(0, 0, rank_, rank_); }
  [[nodiscard]] EngineMatrix below() const { return l_.block(rank_, 0, count() - rank_, rank_); }
  [[nodiscard]] bool factorise_plainly(const GramMatrix& k, double least, Progress* progress);

  const Algebra& algebra_;
  EngineMatrix l_;  ///< n × n, of which `rank` columns count, in the order of the pivots
  std::vector<Index> order_;
  Index rank_ = 0;
  bool complete_ = true;
};

}  // namespace widelimit
