#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/kernels.hpp"

#include <variant>

namespace widelimit::cpu {

/// Cuts each sample into runs of `length` values (whole vectors, or the channels of one position), writes each run
/// divided by its norm to a row of `unit` (zero runs stay zero), and returns the variances ‖run‖²/length. Norms are
/// computed after scaling by a power of two, so values of 1e±150 neither overflow nor underflow.
template <typename T>
[[nodiscard]] Variances normalise_rows(const SampleView& x, Index length, MatrixView<T> unit, int threads);

/// Inputs divided by their norms, n × d: dense in the precision of strips, or sparse in double, which is the precision
/// of their products.
template <typename T>
class UnitRows {
 public:
  /// Loads samples with d numbers and returns their variances ‖x‖²/d.
  Variances load(const SampleView& x, Index d, int threads);
  /// Returns an upper bound of the bytes per sample.
  [[nodiscard]] static std::size_t bytes(const SampleView& x, Index d);

  /// Computes products(i, j) = ⟨x̂, x̂'⟩ for the rows of a tile; on a diagonal tile at least on and above the diagonal.
  /// Throws Error{usage} if one set is sparse and the other dense.
  void multiply(Range rows, const UnitRows& other, Range cols, bool on_diagonal, MatrixView<T> products) const;
  /// Returns 1 − |⟨x̂, x̂'⟩| = ½‖x̂ ∓ x̂'‖² of two rows without cancellation.
  [[nodiscard]] T half_squared_distance(Index i, const UnitRows& other, Index j, T sign) const;

  [[nodiscard]] bool is_sparse() const { return std::holds_alternative<SparseMatrix>(rows_); }
  /// Returns all rows if they are dense.
  [[nodiscard]] MatrixView<const T> dense() const { return std::get<Matrix<T>>(rows_).view(); }
  /// Writes sparse rows from `first` on as dense rows.
  void copy_rows(Index first, MatrixView<T> to) const;

 private:
  [[nodiscard]] SparseView sparse() const { return std::get<SparseMatrix>(rows_).view(); }

  std::variant<Matrix<T>, SparseMatrix> rows_;
};

}  // namespace widelimit::cpu
