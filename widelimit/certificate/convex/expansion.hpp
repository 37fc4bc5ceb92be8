#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/interval/ranges.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Range of a cosine and its tangent point.
struct CosineRange {
  double low = 0;
  double tangent = 0;
  double high = 0;
};

/// Bounds of C(u) = (κ(u) − κ(t) − κ'(t)(u − t))/(u − t)² for all u in a range with tangent point t.
struct Curvature {
  double low = 0;
  double high = 0;
};

/// κ and κ' at the tangent points, as computed, and bounds of C including rounding.
///
/// C(u) = ∫₀¹(1−s)κ''(t + s(u−t)) ds. The power series of κ has non-negative coefficients, so κ'' increases on [0, 1):
/// on a range without negative u, C lies between its values at the endpoints. On any range |κ''(−v)| ≤ κ''(v), so
/// replacing κ by E(u) = κ(|u|) − κ'(0)|u| gives an upper bound of C, which is largest at an endpoint since E'' =
/// κ''(|u|) is convex. From below, κ''(−v) ≥ 2κ''(0) − κ''(v), hence C ≥ κ''(0) − the upper bound; for one rectifier
/// κ'' is even and C ≥ κ''(0)/2; and C ≥ 0 if κ is convex.
struct CurvatureBounds {
  std::vector<double> value, slope;  ///< κ(t), κ'(t)
  std::vector<Curvature> curvature;

  CurvatureBounds(const ConeKernel& kernel, std::span<const CosineRange> ranges);
};

/// Directions of training samples on the features that are non-zero in some sample, plus one coordinate for all others.
///
/// If x̂ᵢ is 0 for all i on some features, yᵢ = x̂ᵢ − uᵢĉ is a multiple of ĉ there: an expansion depends on these
/// coordinates of z only through ζ = Σ ĉ_j z_j. They are replaced by one coordinate ζ/e with e ≥ ‖(ĉ_j)‖, in which
/// samples are 0 and ĉ is e: for ℓ∞, |ζ|/e ≤ Σ|ĉ_j|half_j/e; for ℓ2 its modulus is at most their norm.
/// [docs/theory/certificates-proof.md#convex]
class ReducedDirections {
 public:
  /// Borrows the geometry. O(samples·features) if a feature is omitted, otherwise free.
  explicit ReducedDirections(const SupportGeometry& support);
  /// The same with direction i multiplied by factors[i].
  ReducedDirections(const SupportGeometry& support, std::span<const double> factors);

  [[nodiscard]] MatrixView<const double> rows() const { return rows_; }
  /// The engine memory that holds the rows; null if they are on the host.
  [[nodiscard]] const HeldSupport* holder() const { return holder_; }
  [[nodiscard]] const EngineMatrix& held() const { return held_; }
  [[nodiscard]] Index kept() const { return std::ssize(used_); }  ///< features without the rest coordinate
  /// Upper bound of the relative rounding error of a sum over this many features, relative to the sum of moduli.
  [[nodiscard]] static double slack(std::size_t features) { return 0x1p-40 + static_cast<double>(features) * 0x1p-51; }
  /// Returns e for a unit vector ĉ, rounded up.
  [[nodiscard]] double rest_length(std::span<const double> unit) const;
  /// Returns Σ max(ĉ_j·low_j, ĉ_j·high_j) over the omitted features, or Σ min if not `larger`.
  [[nodiscard]] double rest_sum(std::span<const double> unit, std::span<const double> low, std::span<const double> high,
                                bool larger) const;
  /// Returns an upper bound of |ζ|/e for |z_j| ≤ half_j.
  [[nodiscard]] double rest_half(std::span<const double> unit, std::span<const double> half, double rest) const;
  /// Returns the sum over the omitted features.
  [[nodiscard]] double rest_total(std::span<const double> full) const;
  /// Returns the values of the kept features, followed by `rest` if features are omitted.
  [[nodiscard]] std::vector<double> keep(std::span<const double> full, double rest) const;
  /// Computes to = Σᵢ weightsᵢ·x̂ᵢ in an unspecified order of summation; `to` is unchanged if there are no samples.
  void combine(const std::vector<double>& weights, std::vector<double>& to) const;

 private:
  std::span<const Index> used_;
  std::vector<Index> rest_;
  Matrix<double> own_;
  MatrixView<const double> rows_;
  const HeldSupport* holder_ = nullptr;
  EngineMatrix held_;
};

/// Second-order lower bound of a machine's f = Σ βᵢΘ(·,xᵢ) + b on a ball, about the centre c of its surrounding box:
///   f(x) ≥ constant + ⟨gradient, z⟩ + rise·ν + Σᵢ wᵢ·(⟨yᵢ, z⟩ − uᵢν)² − error,                       (1)
/// z = x − c, ν = ‖x‖ − ‖c‖ − ⟨ĉ, z⟩ in [0, ν_max], ĉ = c/‖c‖, yᵢ = x̂ᵢ − uᵢĉ.
/// [docs/theory/certificates-proof.md#convex]
/// First-order terms are exact: contributions of training samples of both signs cancel before they are bounded.
struct Expansion {
  std::vector<double> centre, direction;  ///< c and ĉ, all features
  std::vector<double> unit;               ///< ĉ on reduced features
  std::vector<double> half;               ///< |z_j| ≤ half_j; for an ℓ2 ball also ‖z‖ ≤ radius
  std::vector<double> gradient;           ///< on reduced features
  std::vector<double> u;                  ///< cosines of the tangent points, one per sample
  std::vector<double> w;                  ///< weights of squares, one per sample; 0 if the sample has no weight
  std::vector<double> reach;              ///< upper bounds of |⟨yᵢ, z⟩ − uᵢν|
  double centre_norm = 0;                 ///< ‖c‖
  double constant = 0;
  double rise = 0;
  double nu = 0;  ///< ν_max
  double error = 0;
  double least_scale = 1, largest_scale = 1;  ///< f is (1) times a positive number between these,
  int exponent = 0;                           ///< times 2^exponent
  bool bounded = false;                       ///< false: no bound, e.g. if the ball (nearly) contains the origin

  /// Lower bound of (1) with every square bounded separately: O(samples); the matrix of (1) costs samples·features².
  [[nodiscard]] double first_order(bool euclidean, double radius) const;
};

/// O(samples·features). `directions` are the x̂ᵢ; `ranges` supplies rounding errors; `point` is the centre of the ball;
/// `weights` has βᵢ·scale·‖xᵢ‖ as beta and the exponent of the expansion.
[[nodiscard]] Expansion expand(const ConeKernel& kernel, const Ranges& ranges, const ReducedDirections& directions,
                               const double* point, const Ball& ball, bool euclidean, const FunctionalWeights& weights);

}  // namespace widelimit
