#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// Fast Johnson–Lindenstrauss transform of Ailon and Chazelle (2009), P H D, of vectors that are never stored in full:
/// D is a diagonal of random signs, H the Walsh–Hadamard transform over 2^m ≥ length entries, P has `rows` rows, whose
/// entries are non-zero with probability `density` and then normal with variance 1/density. Computed up to a constant
/// factor, to which least squares is invariant.
///
/// H = H_a ⊗ H_b: entry (r₁, r₂) of H v is Σ_s (−1)^popcount(r₁ & s) (H_b v_s)(r₂) over blocks v_s of b entries. Each
/// block is transformed separately, and only the entries that P selects are accumulated: memory is b plus the entries
/// of P, for any length.
class HadamardSketch {
 public:
  /// Sketch of `columns` vectors. `most_block` is the largest block size allowed, a power of two.
  HadamardSketch(Index length, Index rows, double density, Index columns, std::uint64_t seed,
                 Index most_block = Index{1} << 20);

  [[nodiscard]] Index block() const { return block_; }
  [[nodiscard]] Index blocks() const { return (length_ + block_ - 1) / block_; }
  /// Adds block `s` of a vector: `block()` entries, 0 beyond the length; overwrites them. Thread-safe for different
  /// columns.
  void add(Index s, Index column, double* entries);
  /// The sketches, columns × rows.
  [[nodiscard]] const Matrix<double>& result() const { return result_; }

 private:
  struct Entry {
    std::uint64_t block;  ///< r₁
    std::uint32_t place;  ///< r₂
    std::uint32_t row;
    double value;
  };

  Index length_;
  Index block_;
  std::uint64_t seed_;
  std::vector<Entry> projection_;
  Matrix<double> result_;
};

}  // namespace widelimit
