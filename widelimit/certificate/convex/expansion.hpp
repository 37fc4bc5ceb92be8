#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/convex/reduced_directions.hpp"
#include "widelimit/certificate/interval/ranges.hpp"

#include <vector>

namespace widelimit {

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
