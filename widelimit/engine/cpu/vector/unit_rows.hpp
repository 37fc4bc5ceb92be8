#pragma once

#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/kernels.hpp"

#include <variant>

namespace widelimit::cpu {

/// Inputs divided by their norms, n × d: dense in the precision of strips, or sparse in double, which their products
/// are added in.
template <typename T>
class UnitRows {
 public:
  /// Takes samples of d numbers, and returns their variances ‖x‖²/d.
  Variances load(const SampleView& x, Index d, int threads);
  /// Bytes of one sample, a bound.
  [[nodiscard]] static std::size_t bytes(const SampleView& x, Index d);

  /// products(i, j) = ⟨x̂, x̂'⟩ for the rows of a tile; of a square on the diagonal at least those on and above it.
  /// Error{usage} where one set is sparse and the other dense.
  void multiply(Range rows, const UnitRows& other, Range cols, bool on_diagonal, MatrixView<T> products) const;
  /// 1 − |⟨x̂, x̂'⟩| = ½‖x̂ ∓ x̂'‖² of two rows: the digits that the product cancels.
  [[nodiscard]] T half_squared_distance(Index i, const UnitRows& other, Index j, T sign) const;

  [[nodiscard]] bool is_sparse() const { return std::holds_alternative<SparseMatrix>(rows_); }
  /// All rows, where they are not sparse.
  [[nodiscard]] MatrixView<const T> dense() const { return std::get<Matrix<T>>(rows_).view(); }
  /// Sparse rows from `first` on with all their numbers, zeros too.
  void copy_rows(Index first, MatrixView<T> to) const;

 private:
  [[nodiscard]] SparseView sparse() const { return std::get<SparseMatrix>(rows_).view(); }

  std::variant<Matrix<T>, SparseMatrix> rows_;
};

}  // namespace widelimit::cpu
