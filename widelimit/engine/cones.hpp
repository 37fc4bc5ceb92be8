#pragma once

#include "widelimit/engine/enclosure/chain_change.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/cone/cone.hpp"
#include "widelimit/engine/host/residual.hpp"

#include <cstdint>
#include <span>

/// The parts of certificates whose cost grows with support × points or support × features: for chains without biases,
/// whose kernel is a function of a norm and an angle (a cone), and for all other chains, whose entries are enclosed
/// layer by layer. [docs/theory/certificates-proof.md]
namespace widelimit {

/// A line through the origin that supports κ from below up to rounding: κ(u) ≥ slope·u on its side of 0; κ(u)/u
/// decreases in |u| below [low, high] and increases above it.
struct SupportingRay {
  double low = 0;
  double high = 0;
  double slope = 0;  ///< rounded such that the inequality holds
};

/// κ, convex on [−1, 1], with its extremes.
struct ConeProfile {
  host::ConeChain chain;
  double largest = 0;   ///< κ(1)
  double opposite = 0;  ///< κ(−1) as computed
  double lowest = 0;    ///< computed argmin; κ decreases left of fall_end and increases right of growth_begin
  double fall_end = 0;
  double growth_begin = 0;
  double lowest_value = 0;  ///< lower bound of the minimum
  SupportingRay ray_above, ray_below;
};

/// Rule that bounds an entry H(a, N) = N·κ(a/N) over ranges of a and N.
enum class ConeRule : std::uint8_t {
  paper,     ///< EQ Theorem 4.2: bounds a/N and N separately
  interval,  ///< exact joint range
};

/// A ball: aᵢ = ⟨x, x̂ᵢ⟩ differs from its value at the centre by at most radius·spreadᵢ + error; N lies in [inner,
/// outer].
struct ConeBall {
  Index point = 0;  ///< row of the inner products
  double radius = 0;
  double error = 0;
  double inner = 0, outer = 0;
  double box_error = 0;  ///< rounding error of the ranges given by the box
};

/// Inputs of the entry bounds, all float64.
struct ConeRanges {
  EngineMatrix inner;   ///< ⟨x, x̂ᵢ⟩, points × support
  EngineMatrix spread;  ///< 1 × support; empty if all are 1
  /// With a box, aᵢ also lies in middle ± (reach + box_error): balls × support. Empty without a box.
  EngineMatrix middle, reach;
};

/// A requested sum over the support: index of the ball and row of the weights.
struct ConeSum {
  Index ball = 0;
  Index weights = 0;
};

/// Points and a support, to compute kernel entries.
struct ConePairs {
  EngineMatrix points, directions;
  EngineMatrix inner;                       ///< ⟨x, x̂ᵢ⟩, points × support
  std::span<const double> norms;            ///< ‖x‖ of the points
  std::span<const double> lengths;          ///< of the support samples
  std::span<const std::int32_t> exponents;  ///< binary exponents, one per support sample
  double scale = 1;
};

/// Balls and a support whose kernel is enclosed layer by layer.
struct ChainBalls {
  ChainView chain;          ///< pointers to host memory
  EngineMatrix directions;  ///< xᵢ/‖x̃ᵢ‖
  std::span<const LiftedSample> samples;
  std::span<const LiftedRange> balls;
  /// c, c/centre_norm and the half-widths that weight residuals: balls × features.
  MatrixView<const double> centre, unit, half;
  bool euclidean = false;
};

/// Certificate operations of an engine with its own memory. Engines in host memory do not implement them; the passes of
/// widelimit/engine/host do the same work there. All matrices are float64 engine matrices (Algebra); calls are
/// thread-safe. Arithmetic is IEEE 754 double, rounded to nearest, with or without fused multiply-add; κ and its slope
/// have the errors stated by ConeKernel.
class Cones {
 public:
  virtual ~Cones() = default;

  /// to[q] = Σᵢ wᵢHᵢ with w = row sums[q].weights of `weights` (any × support) and Hᵢ a bound of the entry over the
  /// ball: a lower bound if wᵢ > 0, an upper bound if wᵢ < 0, each up to norm·(value_error + 16·2⁻⁵³·κ(1)).
  virtual void bound_sums(const ConeProfile& profile, ConeRule rule, const ConeRanges& ranges,
                          std::span<const ConeBall> balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                          double* to) const = 0;
  /// Returns the maximum number of additions that a term of such a sum passes through.
  [[nodiscard]] virtual double additions(Index support) const = 0;

  /// to(k, i) = 2^exponentsᵢ·scale·norms_k·lengthsᵢ·κ(u); 1 − |u| is computed from differences if x is nearly parallel
  /// to xᵢ.
  virtual void entries(const host::ConeChain& chain, const ConePairs& pairs, EngineMatrix& to) const = 0;

  /// Row k of `inner` holds ⟨x, x̂ᵢ⟩ for an x with ‖x‖ = norms[k]. With the cosines uᵢ, clamped to ±most, and w = row
  /// which[k] of `weights`: values[k] = ‖x‖Σwᵢκ(uᵢ), along[k] = Σwᵢ(κ − uᵢκ')(uᵢ)/‖x‖, and entry i becomes wᵢκ'(uᵢ).
  virtual void slopes(const host::ConeChain& chain, double most, const EngineMatrix& weights,
                      std::span<const Index> which, std::span<const double> norms, EngineMatrix& inner, double* values,
                      double* along) const = 0;

  /// host::residual_of for every row of `directions`: ⟨x̂ᵢ, c⟩ and the reach.
  virtual void residuals(const EngineMatrix& directions, const host::ResidualFrame& frame, bool euclidean,
                         double* inner, double* reach) const = 0;
  /// b = Σᵢ wᵢỹᵢỹᵢᵀ with ỹᵢ = (half_j(x̂_ij − tᵢĉ_j), −last·tᵢ); entries of ỹ have a relative error of at most two
  /// units of rounding, sums of n products are float64 sums in any order.  O(support·features²).
  virtual void squares(const EngineMatrix& directions, const host::ResidualFrame& frame, std::span<const double> t,
                       std::span<const double> w, double last, MatrixView<double> b) const = 0;

  /// to[q] encloses Σᵢ wᵢ·otherᵢ·valueᵢ over ball sums[q].ball (enclose_on_ball), w = row sums[q].weights of `weights`;
  /// samples with wᵢ = 0 are skipped.
  virtual void enclose_sums(const ChainBalls& balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                            Interval* to) const = 0;
  /// to[b·support + i]: change of entry i over ball b.
  virtual void enclose_changes(const ChainBalls& balls, bool biased, EntryChange* to) const = 0;
  /// As `slopes`, for a chain: with lengths ‖xᵢ‖, values[k] = ΣwᵢΘᵢ, along[k] = Σwᵢ·2∂Θᵢ/∂q/d, and entry i becomes
  /// wᵢ‖xᵢ‖·∂Θᵢ/∂c/d, where q = ‖x‖²/d and c = ⟨x, xᵢ⟩/d.
  virtual void chain_slopes(const ChainView& chain, const EngineMatrix& weights, std::span<const Index> which,
                            std::span<const double> norms, std::span<const double> lengths, EngineMatrix& inner,
                            double* values, double* along) const = 0;
};

/// An engine that implements Cones.
class ConeEngine {
 public:
  virtual ~ConeEngine() = default;
  [[nodiscard]] virtual const Cones& cones() const = 0;
};

/// Returns the Cones of an engine, or null if it has none.
[[nodiscard]] const Cones* cones_of(const Engine& engine);

}  // namespace widelimit
