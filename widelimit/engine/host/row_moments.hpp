#pragma once

#include "widelimit/base/matrix.hpp"

#include <vector>

namespace widelimit::host {

/// Σ_k r_i(k) r_j(k) of few rows r_0, r_1, … that come a part at a time: MᵀM of a matrix with few columns. Products of
/// BLAS would spend most of their time on copies of rows so few. A part should fit in the first-level cache.
class RowMoments {
 public:
  explicit RowMoments(Index rows);
  /// O(rows²·columns); sequential.
  void add(MatrixView<const double> part);
  /// rows × rows, row by row.
  [[nodiscard]] std::vector<double> values() const;

  /// Rows of a tile of pairs, whose sums stay in registers, and numbers that a sum is kept in.
  static constexpr Index high = 2;
  static constexpr Index wide = 4;
  static constexpr Index lanes = 8;
  /// visit(i, j) for the first rows of each tile that meets the diagonal or lies above it.
  template <typename Visit>
  static void each_tile(Index rows, const Visit& visit) {
    for (Index i = 0; i < rows; i += high) {
      for (Index j = i / wide * wide; j < rows; j += wide) visit(i, j);
    }
  }

 private:
  Index rows_;
  std::vector<double> sums_;  ///< of one tile after the other
};

}  // namespace widelimit::host
