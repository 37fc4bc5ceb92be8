#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <numbers>

namespace widelimit {

/// Angle between two vectors, in a representation that keeps full relative accuracy near 0 and near π.
struct Angle {
  double cosine = 0.0;
  double sine = 1.0;                           ///< ≥ 0
  double supplement = std::numbers::pi / 2.0;  ///< π − θ

  /// From 1 − |cos θ| and the sign of cos θ, without cancellation.
  [[nodiscard]] static Angle from_distance(double one_minus_abs_cosine, bool acute);
};

/// Angular part J_n of Cho & Saul's arc-cosine kernel (NIPS 2009), k_n(x,x') = ‖x‖ⁿ‖x'‖ⁿ J_n(θ)/π.
///
/// With c = cos θ, J_n = A_n(c)·sin θ + B_n(c)·(π − θ); the polynomials are those of rectified monomials
/// [recipe/rectified_monomial.hpp].
///
/// For obtuse angles the two terms cancel (J_n = O((π−θ)^{2n+1})); there the integral of Cho & Saul, whose integrand is
/// positive, is evaluated by Gauss–Legendre quadrature:
///   J_n = n!·(sin θ)^{2n+1} ∫₀^{π/2} (cos ψ)ⁿ / (1 − c·cos ψ)^{n+1} dψ.
class ArccosineKernel {
 public:
  static constexpr Index max_order = 8;
  explicit ArccosineKernel(Index order);  ///< 0 … max_order
  [[nodiscard]] double operator()(const Angle& angle) const;

 private:
  Index order_;
  ArccosinePolynomials polynomials_;
  double factorial_ = 1.0;  // n!
};

}  // namespace widelimit
