#pragma once

#include "widelimit/engine/kernels.hpp"

#include <cstdint>
#include <vector>

namespace widelimit::cpu {

/// A sparse matrix by rows: what a place after a step takes of the places before it.
struct SparseRows {
  std::vector<Index> start{0};
  std::vector<std::int32_t> columns;
  std::vector<double> weights;

  [[nodiscard]] Index rows() const { return std::ssize(start) - 1; }
  void add(Index column, double weight) {
    columns.push_back(static_cast<std::int32_t>(column));
    weights.push_back(weight);
  }
  void end_row() { start.push_back(std::ssize(columns)); }
  /// Rows of another, whose columns begin at `first`.
  void append(const SparseRows& more, Index first);
};

/// `rows` rows of a sparse matrix from `begin` on, over columns from `first` on.
struct SparseBlock {
  const SparseRows* all = nullptr;
  Index begin = 0;
  Index rows = 0;
  Index first = 0;

  [[nodiscard]] SparseBlock part(Range some) const { return {all, begin + some.begin, some.size(), first}; }
};

/// out = A·in, row by row over whole vectors: `in` and `out` are padded as strips are.
void combine_rows(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> out);
/// ρ = A·in, and t of that.
void combine_correlations(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> rho,
                          MatrixView<double> t);

/// ρ clamped, and t = 1 − |ρ|: what is below rounding counts as equal.
void set_correlations(MatrixView<double> rho, MatrixView<double> t);

}  // namespace widelimit::cpu
