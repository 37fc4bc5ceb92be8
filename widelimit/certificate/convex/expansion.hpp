#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/interval/ranges.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// How far a cosine may go, and the tangent point between.
struct CosineRange {
  double low = 0;
  double tangent = 0;
  double high = 0;
};

/// Bounds of C(u) = (κ(u) − κ(t) − κ'(t)(u − t))/(u − t)² for all u of a range, t its tangent point.
struct Curvature {
  double low = 0;
  double high = 0;
};

/// κ and κ' at the tangent points, as computed, and C's bounds, rounding counted in.
///
/// C(u) is ∫₀¹(1−s)κ''(t + s(u−t)) ds. The coefficients of κ's power series are not negative, so κ'' grows on [0, 1): C
/// lies between its values at the ends of a range without negative u. In any range |κ''(−v)| ≤ κ''(v), so with E(u) =
/// κ(|u|) − κ'(0)|u| in the place of κ, C is an upper bound, largest at one of the ends, since E'' = κ''(|u|) is
/// convex. From below there is κ''(−v) ≥ 2κ''(0) − κ''(v), hence C ≥ κ''(0) − the upper bound; of one rectifier κ'' is
/// even and C ≥ κ''(0)/2; and 0 where κ is convex.
struct CurvatureBounds {
  std::vector<double> value, slope;  ///< κ(t), κ'(t)
  std::vector<Curvature> curvature;

  CurvatureBounds(const ConeKernel& kernel, std::span<const CosineRange> ranges);
};

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
  /// The engine that holds them; null where the host does the work.
  [[nodiscard]] const HeldSupport* holder() const { return holder_; }
  [[nodiscard]] const EngineMatrix& held() const { return held_; }
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
  /// to = Σᵢ weightsᵢ·x̂ᵢ, sums of samples in some order; stays as it is where there are no samples.
  void combine(const std::vector<double>& weights, std::vector<double>& to) const;

 private:
  std::span<const Index> used_;
  std::vector<Index> rest_;
  Matrix<double> own_;
  MatrixView<const double> rows_;
  const HeldSupport* holder_ = nullptr;
  EngineMatrix held_;
};

/// A machine's f = Σ βᵢΘ(·,xᵢ) + b on a ball, to second order about the centre c of the box that surrounds it:
///   f(x) ≥ constant + ⟨gradient, z⟩ + rise·ν + Σᵢ wᵢ·(⟨yᵢ, z⟩ − uᵢν)² − error,                       (1)
/// z = x − c, ν = ‖x‖ − ‖c‖ − ⟨ĉ, z⟩ in [0, ν_max], ĉ = c/‖c‖, yᵢ = x̂ᵢ − uᵢĉ.
/// [docs/theory/certificates-proof.md#convex]
/// Nothing is lost at first order: what training samples of both signs do to f is added up before it is bounded.
struct Expansion {
  std::vector<double> centre, direction;  ///< c and ĉ, all features
  std::vector<double> unit;               ///< ĉ on reduced features
  std::vector<double> half;      ///< |z_j| ≤ half_j; of an ℓ2 ball the same, and ‖z‖ ≤ radius besides
  std::vector<double> gradient;  ///< by reduced feature
  std::vector<double> u;         ///< cosines of the tangent points, one for each sample
  std::vector<double> w;         ///< weights of squares, one for each sample: 0 where a sample has no weight
  std::vector<double> reach;     ///< |⟨yᵢ, z⟩ − uᵢν| is not larger
  double centre_norm = 0;        ///< ‖c‖
  double constant = 0;
  double rise = 0;
  double nu = 0;  ///< ν_max
  double error = 0;
  double least_scale = 1, largest_scale = 1;  ///< f is (1) times a number between these, which are positive,
  int exponent = 0;                           ///< and times 2 to the power of this
  bool bounded = false;                       ///< false: nothing can be said, the ball holds or nearly holds the origin

  /// (1) with every square at its worst by itself: O(samples), where the matrix of (1) costs samples·features².
  [[nodiscard]] double first_order(bool euclidean, double radius) const;
};

/// O(samples·features). `directions` are the x̂ᵢ, `ranges` has what rounding did to them; `point` is the ball's own;
/// `weights` has βᵢ·scale·‖xᵢ‖ for β, and the expansion its exponent.
[[nodiscard]] Expansion expand(const ConeKernel& kernel, const Ranges& ranges, const ReducedDirections& directions,
                               const double* point, const Ball& ball, bool euclidean, const FunctionalWeights& weights);

}  // namespace widelimit
