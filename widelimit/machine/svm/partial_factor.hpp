#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/kernel/gram_columns.hpp"

#include <concepts>
#include <functional>
#include <vector>

namespace widelimit {

/// K = LLᵀ + R by Cholesky with pivots, a column of K at a time and only as far as asked for. R is positive
/// semi-definite where K is, so that |R_ij| ≤ √(R_ii R_jj). The next pivot is the largest R_ii/K_ii: where diagonal
/// entries differ by orders of magnitude, small ones keep as many digits as large ones. Where K has few dimensions, as
/// that of a linear kernel, R is soon nothing but rounding.
template <std::floating_point T>
class PartialFactor {
 public:
  /// `columns` must outlive it.
  explicit PartialFactor(GramColumns<T>& columns);

  /// Goes on until L has `most` columns, or R is rounding: R_ii ≤ 4√n·ε·K_ii, ε that of T.
  /// `beat` is called with each column.  O(n·most²).
  void extend(Index most, const std::function<void()>& beat);
  [[nodiscard]] Index rank() const { return rank_; }
  /// Whether R is rounding.
  [[nodiscard]] bool complete() const { return complete_; }
  /// L, samples × rank.
  [[nodiscard]] Matrix<double> rows() const;
  [[nodiscard]] std::size_t bytes() const { return (transposed_.size() + left_.size()) * sizeof(double); }

 private:
  GramColumns<T>& columns_;
  std::vector<double> transposed_;  ///< Lᵀ, row after row
  std::vector<double> inverse_;     ///< 1/K_ii, 0 where that is 0
  std::vector<double> left_;        ///< R_ii/K_ii
  double least_ = 0;
  Index rank_ = 0;
  bool complete_ = false;
};

}  // namespace widelimit
