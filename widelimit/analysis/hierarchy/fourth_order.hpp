#pragma once

#include "widelimit/analysis/hierarchy/label_weights.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/network/activation_jet.hpp"

#include <span>
#include <string>

namespace widelimit {

/// Computes Σ_ij M_ij E[K⁽⁴⁾(x,x',i,j)] of the network f(x) = m^{−1/2} Σ_r a_r σ(w_r·x), both layers trained, at m = 1:
/// the mean over hidden weights w of a bilinear form in functions of x and of x'. With s, p, q, r = σ, σ', σ'', σ''' at
/// w·x, primes for x', G = ⟨x,x'⟩, α = H⁻¹y, and for each w
///
///     s_α = Σ α_i s_i,   U = Σ α_i p_i x_i,   V = Σ p_i (Ms)_i x_i,   Z = Σ q_i ((M∘XXᵀ)p)_i x_i,
///     ξ = ⟨x,U⟩,   ν = ⟨x,V⟩,   ζ = ⟨x,Z⟩,
///
/// it is the mean of  s b' + b s' + e e' + G (p c' + c p' + 3 g g')  with
///
///     b = p(ν + ζ) + ½qξ²,   e = pξ,   c = ½(s_α² + |U|²)p + q(ν + 3ζ + 2s_αξ) + (3/2)rξ²,   g = qξ.
///
/// [docs/theory/tangent-hierarchy.md]. The n⁴ entries of K⁽⁴⁾ are never formed: a direction w costs 11·n² multiply-adds
/// in matrix products, 8·n² if σ'' = 0.
class FourthOrderSum {
 public:
  /// `points` has one row per point, the training samples of `weights` first. All arguments must outlive the object.
  FourthOrderSum(const Activation& activation, MatrixView<const double> points, const LabelWeights& weights,
                 const Engine& engine);

  /// Adds the bilinear forms of the hidden weights in the rows.
  void add(MatrixView<const double> directions);
  /// Adds the sum over the directions since the last call to `total`: points × samples.
  void take(Matrix<double>& total);

 private:
  struct Fields;
  /// Returns σ and its derivatives at all points, and ξ, ν, ζ: points × directions each.
  [[nodiscard]] Fields fields(MatrixView<const double> directions) const;
  /// Overwrites the derivatives with b, e, c, g.
  void combine(Fields& f) const;

  Activation activation_;
  bool curved_;  ///< σ'' ≠ 0
  MatrixView<const double> points_;
  const LabelWeights& weights_;
  const Engine& engine_;
  Index samples_;
  Matrix<double> products_;           ///< G, points × samples
  Matrix<double> weighted_products_;  ///< M ∘ XXᵀ
  Matrix<double> plain_;              ///< Σ_w s b' + b s' + e e'
  Matrix<double> times_products_;     ///< Σ_w p c' + c p' + 3 g g'
};

/// Reference implementation for given hidden weights: K⁽⁴⁾ entry by entry as derived by differentiation, weighted by Q
/// of LA (6) with the eigenvectors of `h`. O(points·samples³·directions).
[[nodiscard]] Matrix<double> fourth_order_by_definition(const Activation& activation, MatrixView<const double> points,
                                                        const GramMatrix& h, std::span<const double> y,
                                                        MatrixView<const double> directions);

}  // namespace widelimit
