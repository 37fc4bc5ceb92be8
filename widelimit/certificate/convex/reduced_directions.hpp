#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/cone/geometry.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Directions of training samples on the features that some sample has, and on one more for all the others together.
///
/// Where every x̂ᵢ is 0, yᵢ = x̂ᵢ − uᵢĉ is a multiple of ĉ: an expansion sees those coordinates of z through
/// ζ = Σ ĉ_j z_j alone. One coordinate ζ/e with e ≥ ‖(ĉ_j)‖, on which samples are 0 and ĉ is e, takes their place: in
/// ℓ∞ |ζ|/e ≤ Σ|ĉ_j|half_j/e, in ℓ2 it is no longer than they were.    [docs/theory/certificates-proof.md#convex]
class ReducedDirections {
 public:
  /// Borrows the geometry. O(samples·features) where a feature is left out.
  explicit ReducedDirections(const SupportGeometry& support);
  /// The same with every direction times a factor.
  ReducedDirections(const SupportGeometry& support, std::span<const double> factors);

  [[nodiscard]] MatrixView<const double> rows() const { return rows_; }
  [[nodiscard]] Index kept() const { return std::ssize(used_); }  ///< features, that of the others not counted
  /// More than what rounding does to sums over so many features, a part of the sum of moduli.
  [[nodiscard]] static double slack(std::size_t features) { return 0x1p-40 + static_cast<double>(features) * 0x1p-51; }
  /// e of a unit vector ĉ, rounded up.
  [[nodiscard]] double rest_length(std::span<const double> unit) const;
  /// Σ over the features left out of the larger, or the smaller, of ĉ_j·low_j and ĉ_j·high_j.
  [[nodiscard]] double rest_sum(std::span<const double> unit, std::span<const double> low, std::span<const double> high,
                                bool larger) const;
  /// |ζ|/e is not larger where |z_j| ≤ half_j.
  [[nodiscard]] double rest_half(std::span<const double> unit, std::span<const double> half, double rest) const;
  /// Σ over the features left out.
  [[nodiscard]] double rest_total(std::span<const double> full) const;
  /// The numbers of the features that are kept, and `rest` for the others where there are some.
  [[nodiscard]] std::vector<double> keep(std::span<const double> full, double rest) const;

 private:
  std::span<const Index> used_;
  std::vector<Index> rest_;
  Matrix<double> own_;
  MatrixView<const double> rows_;
};

}  // namespace widelimit
