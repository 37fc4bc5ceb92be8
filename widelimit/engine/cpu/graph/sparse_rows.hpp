#pragma once

#include "widelimit/engine/kernels.hpp"

#include <cstdint>
#include <vector>

namespace widelimit::cpu {

/// A sparse matrix in CSR form: weights of the places before a step in the places after it.
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
  /// Appends the rows of another matrix, with its columns shifted by `first`.
  void append(const SparseRows& more, Index first);
};

/// `rows` rows of a sparse matrix from `begin` on, with columns counted from `first`.
struct SparseBlock {
  const SparseRows* all = nullptr;
  Index begin = 0;
  Index rows = 0;
  Index first = 0;

  [[nodiscard]] SparseBlock part(Range some) const { return {all, begin + some.begin, some.size(), first}; }
};

/// out = A·in over whole vectors; `in` and `out` are padded like strips.
void combine_rows(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> out);
/// ρ = A·in, and the corresponding t.
void combine_correlations(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> rho,
                          MatrixView<double> t);

/// Clamps ρ and sets t = 1 − |ρ|; values of t below rounding become 0.
void set_correlations(MatrixView<double> rho, MatrixView<double> t);

}  // namespace widelimit::cpu
