#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <vector>

namespace widelimit::host {

/// Rows of one side of pairs, arranged for `pair_products`: group by group of a few rows, in a group coordinate by
/// coordinate: x_k − mean of each row, then, where distances are wanted, x_k of each. Missing rows of the last group
/// are 0.
class PairPanel {
 public:
  enum class Side : std::uint8_t { left, right };
  /// Rows of a group: what the registers of a processor hold of each side.
  static constexpr Index left_group = 3;
  static constexpr Index right_group = 16;
  /// Coordinates that are summed before the sum is added to that of others: of a right group so many stay in the
  /// first-level cache.
  static constexpr Index most_depth = 128;

  PairPanel() = default;
  /// `means` are those of the rows, which products leave out. `distances`: whether those are wanted, too.  O(rows·cols)
  PairPanel(MatrixView<const double> rows, const double* means, Side side, bool distances);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index groups() const { return numbers_.rows(); }
  /// Coordinates of one part of a sum; the last part may have fewer.
  [[nodiscard]] static Index depth(Index cols);
  /// Numbers for one coordinate of a group.
  [[nodiscard]] Index step() const { return step_; }
  /// Group `g` from coordinate `k` on.
  [[nodiscard]] const double* group(Index g, Index k) const { return numbers_.view().row(g) + k * step_; }
  /// Σx_k of each row, part by part: the sum of `pair_products` for two equal rows, to the bit.
  [[nodiscard]] const double* sums() const { return sums_.data(); }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index step_ = 0;
  Matrix<double> numbers_;
  std::vector<double> sums_;
};

}  // namespace widelimit::host
