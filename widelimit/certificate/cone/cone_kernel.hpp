#pragma once

#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/host/cone/cone.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/network.hpp"

#include <vector>

namespace widelimit {

/// The kernel of a chain of dense layers without bias and rectifiers (relu, leaky_relu with a slope ≥ 0, identity) on
/// vectors or flattened images:
///   Θ(x, x') = 2^exponent·scale·N·M·κ(u),   N = ‖x‖, M = ‖x'‖, u = ⟨x,x'⟩/(N·M),       [docs/theory/certificates.md]
/// for the NTK or the NNGP. Relative to the deviations, κ satisfies ρ ← aρ + bκ₁(ρ), θ ← θ(a + bκ₀(ρ)) + kρ_new with
/// a + b = 1, starting from ρ = u, θ = ku; weights only scale it. κ has a power series with non-negative coefficients,
/// so it is increasing and convex on [0, 1].
///
/// The NTK's κ' is infinite at ±1: if 1 − |u| < 2⁻¹⁰⁶, derivatives are evaluated at that distance.
class ConeKernel {
 public:
  /// Throws Error{usage} if a layer is not supported; names the layer and the alternatives.
  ConeKernel(const Network& network, Kind kind, const Shape& shape);
  ConeKernel(const Chain& chain, Kind kind);

  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] int exponent() const { return exponent_; }  ///< 0 unless the scale would overflow or underflow
  /// Relative error of the scale.
  [[nodiscard]] double scale_error() const { return scale_error_; }
  [[nodiscard]] Index depth() const { return std::ssize(layers_); }  ///< number of rectifiers
  [[nodiscard]] bool tangent() const { return tangent_; }            ///< NTK, not NNGP
  [[nodiscard]] double largest() const { return largest_; }          ///< κ(1) = max |κ|, exact

  [[nodiscard]] host::ConeChain chain() const { return {layers_, trained_, tangent_}; }
  /// Evaluates κ, and κ', κ'' if requested, on arrays; see ConeArrays.
  void evaluate(Index count, const host::ConeArrays& arrays) const { host::evaluate_cone(chain(), count, arrays); }
  [[nodiscard]] double value(double u) const;
  [[nodiscard]] double slope(double u) const;
  /// Bound of |computed κ(u) − κ(u)| for u as given and `rest` accurate to 2⁻⁵³ relatively.
  /// [docs/theory/certificates-proof.md]
  [[nodiscard]] double value_error() const { return value_error_; }
  /// |computed κ'(u) − κ'(u)| ≤ slope_error()·(1 + 1/√(1−|u|)), for 1 − |u| ≥ 2⁻¹⁰⁶.
  [[nodiscard]] double slope_error() const { return slope_error_; }

  /// Returns whether κ is proved convex on [low, high] ⊆ [−1, 1]: by its power series for u ≥ 0, by induction for the
  /// NNGP (convex increasing functions of convex functions), otherwise by a piecewise enclosure of κ''.
  [[nodiscard]] bool convex_on(double low, double high) const;
  /// Whether κ is convex on [−1, 1], computed once.
  [[nodiscard]] bool convex() const { return convex_; }

  /// Location of the computed minimum of κ on [−1, 1]; κ decreases left of fall_end() and increases right of
  /// growth_begin(); lowest_value() is a lower bound of the minimum. Requires convex().
  [[nodiscard]] double lowest() const { return lowest_; }
  [[nodiscard]] double fall_end() const { return fall_end_; }
  [[nodiscard]] double growth_begin() const { return growth_begin_; }
  [[nodiscard]] double lowest_value() const { return lowest_value_; }
  /// For fixed p > 0 (or p < 0), N·κ(p/(N·M)) is minimal where p/(N·M) is the tangent point of this ray. Requires
  /// convex().
  [[nodiscard]] const SupportingRay& ray_above() const { return ray_above_; }
  [[nodiscard]] const SupportingRay& ray_below() const { return ray_below_; }
  /// Returns these values for engines; borrows this object. Requires convex().
  [[nodiscard]] ConeProfile profile() const;

 private:
  void read(const Chain& chain);
  void bound_errors();
  [[nodiscard]] bool bends() const;
  void find_extremes();
  void find_lowest();
  [[nodiscard]] SupportingRay supporting_ray(double sign) const;
  [[nodiscard]] double slope_error_bound(double u) const;

  std::vector<host::ConeLayer> layers_;
  double trained_ = 0;
  bool tangent_ = true;
  double scale_ = 1, scale_error_ = 0, largest_ = 0;
  int exponent_ = 0;
  double value_error_ = 0, slope_error_ = 0;
  bool convex_ = false;
  double lowest_ = -1, fall_end_ = -1, growth_begin_ = -1, lowest_value_ = 0;
  SupportingRay ray_above_, ray_below_;
};

}  // namespace widelimit
