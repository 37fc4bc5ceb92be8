#pragma once

#include "widelimit/base/types.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Cholesky factor L Lᵀ of a symmetric positive definite matrix, updated when rows are appended or removed, O(n²) each.
class GrowingCholesky {
 public:
  [[nodiscard]] Index size() const { return static_cast<Index>(rows_.size()); }

  /// Computes x = L⁻¹·beside in place: the row of L that appending a row with these entries would add.
  void forward(std::span<double> beside) const;
  /// Computes L⁻ᵀx in place.
  void backward(std::span<double> x) const;
  /// Computes (L Lᵀ)⁻¹x in place.
  void solve(std::span<double> x) const {
    forward(x);
    backward(x);
  }

  /// Appends a row: `x` from forward(), and the pivot d − x·x > 0 with the diagonal entry d.
  void append(std::span<const double> x, double pivot);
  /// Removes row and column k by Givens rotations of the rows below.
  void remove(Index k);

 private:
  std::vector<std::vector<double>> rows_;  ///< row i of L has i + 1 entries
};

}  // namespace widelimit
