#pragma once

#include "widelimit/base/matrix.hpp"

#include <vector>

namespace widelimit::host {

/// Accumulates Σ_k r_i(k) r_j(k) for few rows r_0, r_1, … that arrive in parts: MᵀM of a matrix with few columns. BLAS
/// would spend most of its time on packing for so few rows. A part should fit in the first-level cache.
class RowMoments {
 public:
  explicit RowMoments(Index rows);
  /// O(rows²·columns); sequential.
  void add(MatrixView<const double> part);
  /// Returns the rows × rows matrix, row by row.
  [[nodiscard]] std::vector<double> values() const;

  /// Height and width of a register tile of pairs, and number of partial sums per pair.
  static constexpr Index high = 2;
  static constexpr Index wide = 4;
  static constexpr Index lanes = 8;
  /// Calls visit(i, j) for the first row indices of each tile that intersects the upper triangle.
  template <typename Visit>
  static void each_tile(Index rows, const Visit& visit) {
    for (Index i = 0; i < rows; i += high) {
      for (Index j = i / wide * wide; j < rows; j += wide) visit(i, j);
    }
  }

 private:
  Index rows_;
  std::vector<double> sums_;  ///< partial sums, tile by tile
};

}  // namespace widelimit::host
