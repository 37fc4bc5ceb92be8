#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <vector>

namespace widelimit::host {

/// Rows of one side of the pairs in the packed layout of `pair_products`: groups of a few rows, each stored coordinate
/// by coordinate: x_k − mean of each row and, if distances are needed, x_k of each row. Missing rows of the last group
/// are 0.
class PairPanel {
 public:
  enum class Side : std::uint8_t { left, right };
  /// Rows per group, sized for the registers.
  static constexpr Index left_group = 3;
  static constexpr Index right_group = 16;
  /// Maximum number of coordinates per partial sum, so that this part of a right group fits in the first-level cache.
  static constexpr Index most_depth = 128;

  PairPanel() = default;
  /// `means` are the row means to subtract; `distances`: also pack the data for distances.  O(rows·cols)
  PairPanel(MatrixView<const double> rows, const double* means, Side side, bool distances);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index groups() const { return numbers_.rows(); }
  /// Returns the number of coordinates per partial sum; the last may have fewer.
  [[nodiscard]] static Index depth(Index cols);
  /// Numbers per coordinate of a group.
  [[nodiscard]] Index step() const { return step_; }
  /// Returns group `g`, starting at coordinate `k`.
  [[nodiscard]] const double* group(Index g, Index k) const { return numbers_.view().row(g) + k * step_; }
  /// Σx_k of each row in the summation order of `pair_products`, bit-identical to its sum for two equal rows.
  [[nodiscard]] const double* sums() const { return sums_.data(); }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index step_ = 0;
  Matrix<double> numbers_;
  std::vector<double> sums_;
};

/// products(x, x') = Σ_k (x_k − mean)(x'_k − mean') for all rows x of the left and x' of the right panel, with equal
/// numbers of coordinates.  O(rows·rows·columns), sequential.
void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products);

/// The same products bit for bit, and distances = ‖x − x'‖₁ = 2Σ_k max(x_k, x'_k) − Σ_k x_k − Σ_k x'_k, which takes two
/// operations per coordinate instead of three. A number passes through h ≤ 130 + d/128 additions, so the error of a
/// distance is at most 3hu(‖x‖₁ + ‖x'‖₁), u = 2⁻⁵³; distances are nonnegative, and 0 for equal rows. Both panels must
/// be constructed with `distances`.
void pair_products(const PairPanel& left, const PairPanel& right, MatrixView<double> products,
                   MatrixView<double> distances);

}  // namespace widelimit::host
