#pragma once

#include "widelimit/base/types.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Cholesky factor L Lᵀ of a symmetric positive definite matrix whose rows come and go one at a time, O(n²) for each.
class GrowingCholesky {
 public:
  [[nodiscard]] Index size() const { return static_cast<Index>(rows_.size()); }

  /// What a row with these entries beside it would add: x = L⁻¹·beside, in place.
  void forward(std::span<double> beside) const;
  /// In place L⁻ᵀx.
  void backward(std::span<double> x) const;
  /// In place (L Lᵀ)⁻¹x.
  void solve(std::span<double> x) const {
    forward(x);
    backward(x);
  }

  /// A row at the end: `x` from forward, and the pivot d − x·x > 0 of its diagonal entry d.
  void append(std::span<const double> x, double pivot);
  /// Without row and column k, by rotations of the rows below it.
  void remove(Index k);

 private:
  std::vector<std::vector<double>> rows_;  ///< row i of L has i + 1 entries
};

}  // namespace widelimit
