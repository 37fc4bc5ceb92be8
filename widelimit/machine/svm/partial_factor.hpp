#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/kernel/gram_columns.hpp"

#include <concepts>
#include <functional>
#include <vector>

namespace widelimit {

/// Partial pivoted Cholesky factorisation K = LLᵀ + R, one column of K at a time. R is positive semi-definite if K is,
/// so that |R_ij| ≤ √(R_ii R_jj). The next pivot is the largest R_ii/K_ii: if diagonal entries differ by orders of
/// magnitude, small ones keep the same relative accuracy. If K has low rank, as a linear kernel, R soon reaches
/// rounding level.
template <std::floating_point T>
class PartialFactor {
 public:
  /// `columns` must outlive it.
  explicit PartialFactor(GramColumns<T>& columns);

  /// Extends L to `most` columns, or until R is at rounding level: R_ii ≤ 4√n·ε·K_ii, ε that of T. `on_progress` is
  /// called at each column. O(n·most²).
  void extend(Index most, const std::function<void()>& on_progress);
  [[nodiscard]] Index rank() const { return rank_; }
  /// Whether R is at rounding level.
  [[nodiscard]] bool complete() const { return complete_; }
  /// L, samples × rank.
  [[nodiscard]] Matrix<double> rows() const;
  [[nodiscard]] std::size_t bytes() const { return (transposed_.size() + left_.size()) * sizeof(double); }

 private:
  GramColumns<T>& columns_;
  std::vector<double> transposed_;  ///< Lᵀ, row-major
  std::vector<double> inverse_;     ///< 1/K_ii, or 0 if K_ii is 0
  std::vector<double> left_;        ///< R_ii/K_ii
  double least_ = 0;
  Index rank_ = 0;
  bool complete_ = false;
};

}  // namespace widelimit
