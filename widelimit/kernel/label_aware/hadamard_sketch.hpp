#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// The fast Johnson–Lindenstrauss transform of Ailon and Chazelle (2009), P H D, of vectors that are never held whole:
/// D are random signs, H is the Walsh–Hadamard transform over 2^m ≥ length entries, P has `rows` rows, in which each
/// entry is not 0 with probability `density` and then normal of variance 1/density. Up to a constant, which least
/// squares do not see.
///
/// H = H_a ⊗ H_b: entry (r₁, r₂) of H v is Σ_s (−1)^popcount(r₁ & s) (H_b v_s)(r₂) over blocks v_s of b entries. Each
/// block is transformed alone, and only the entries that P reads are added up: memory is b and the entries of P,
/// whatever the length.
class HadamardSketch {
 public:
  /// Of `columns` vectors. `most_block` is the largest power of two that a block may have.
  HadamardSketch(Index length, Index rows, double density, Index columns, std::uint64_t seed,
                 Index most_block = Index{1} << 20);

  [[nodiscard]] Index block() const { return block_; }
  [[nodiscard]] Index blocks() const { return (length_ + block_ - 1) / block_; }
  /// Adds block `s` of a vector, `block()` entries, 0 beyond the length; destroys them. Different columns may be added
  /// at a time by several threads.
  void add(Index s, Index column, double* entries);
  /// columns × rows.
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
