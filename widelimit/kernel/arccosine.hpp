#pragma once

#include "widelimit/base/types.hpp"

#include <array>
#include <numbers>

namespace widelimit {

/// The angle between two vectors, kept so that digits survive near 0 and near π.
struct Angle {
  double cosine = 0.0;
  double sine = 1.0;                           ///< ≥ 0
  double supplement = std::numbers::pi / 2.0;  ///< π − θ

  /// From 1 − |cos θ| and the sign of cos θ: the form without cancellation.
  [[nodiscard]] static Angle from_distance(double one_minus_abs_cosine, bool acute);
};

/// Angular part J_n of Cho & Saul's arc-cosine kernel (NIPS 2009), k_n(x,x') = ‖x‖ⁿ‖x'‖ⁿ J_n(θ)/π.
///
/// With c = cos θ, J_n is n! times an n-fold derivative that obeys dJ_n/dc = n² J_{n−1}. Putting
///   J_n = A_n(c)·sin θ + B_n(c)·(π − θ)
/// into it and comparing the two parts gives
///   B_n' = n² B_{n−1},     (1 − c²) A_n' − c A_n = n² (1 − c²) A_{n−1} − B_n.
/// A_n and B_n are polynomials of degree n−1 and n with the parity of their degree; what the equations leave open is
/// the value at c = 0, where k_n is a product of two half moments: J_n(π/2) = 2π·E[u₊ⁿ]² = ((n−1)!!)²·(π/2 for even
/// n, 1 for odd n). All coefficients are integers, exact in double for n ≤ 8.
///
/// For obtuse angles the two parts cancel (J_n = O((π−θ)^{2n+1})), so there Cho & Saul's integral, whose integrand is
/// positive, is summed by Gauss–Legendre instead:
///   J_n = n!·(sin θ)^{2n+1} ∫₀^{π/2} (cos ψ)ⁿ / (1 − c·cos ψ)^{n+1} dψ.
class Arccosine {
 public:
  static constexpr Index max_order = 8;
  explicit Arccosine(Index order);  ///< 0 … max_order
  [[nodiscard]] double operator()(const Angle& angle) const;

 private:
  using Polynomial = std::array<double, max_order + 1>;  // lowest power first
  Index order_;
  Polynomial sine_part_{};        // A_n
  Polynomial supplement_part_{};  // B_n
  double factorial_ = 1.0;        // n!
};

}  // namespace widelimit
