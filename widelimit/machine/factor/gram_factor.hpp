#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <vector>

namespace widelimit {

/// Factor K = LLᵀ, where L is n × rank(K), the rank in the precision of K. The rows of L are feature vectors of the
/// samples, in which the machine is linear: h = Lβ. If K is singular and λ is small, β keeps digits that α loses,
/// because a component of α in the null space of K may grow as 1/λ. Lives on the engine of K.
class GramFactor {
 public:
  /// Uses Cholesky; if K is singular, pivoted Cholesky with the threshold 4√n·ε·max Kᵢᵢ, the rounding error of a zero
  /// pivot. O(n·rank²) and n² doubles. `progress` can interrupt it.
  explicit GramFactor(const GramMatrix& k, Progress* progress = nullptr);

  [[nodiscard]] const Algebra& algebra() const { return algebra_; }
  [[nodiscard]] Index count() const { return l_.rows(); }
  [[nodiscard]] Index rank() const { return rank_; }
  /// Whether K is positive semi-definite up to rounding; if false, LLᵀ differs from K.
  [[nodiscard]] bool complete() const { return complete_; }
  /// Computes h = Lβ for `columns` row-major columns. O(n·rank·columns).
  void values(const double* beta, double* h, Index columns = 1) const;
  /// Computes c = Lᵀr.
  void pull(const double* r, double* c, Index columns = 1) const;
  /// Computes α with Kα = Lβ; zero for samples without a pivot.
  void coefficients(const double* beta, double* alpha, Index columns = 1) const;
  /// L, samples × rank: row i belongs to sample `order()[i]`.
  [[nodiscard]] EngineMatrix rows() const { return l_.block(0, 0, count(), rank_); }
  [[nodiscard]] const std::vector<Index>& order() const { return order_; }
  /// Returns per-sample values permuted to the order of the rows.
  [[nodiscard]] std::vector<double> ordered(const std::vector<double>& of_samples) const;

 private:
  /// Blocks of L: the first `rank` rows, lower triangular, and the remaining rows.
  [[nodiscard]] EngineMatrix triangle() const { return l_.block(0, 0, rank_, rank_); }
  [[nodiscard]] EngineMatrix below() const { return l_.block(rank_, 0, count() - rank_, rank_); }
  [[nodiscard]] bool factorise_plainly(const GramMatrix& k, double least, Progress* progress);

  const Algebra& algebra_;
  EngineMatrix l_;  ///< n × n, rows in pivot order; only the first `rank` columns are used
  std::vector<Index> order_;
  Index rank_ = 0;
  bool complete_ = true;
};

}  // namespace widelimit
