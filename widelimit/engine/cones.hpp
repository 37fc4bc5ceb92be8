#pragma once

#include "widelimit/engine/enclosure/chain_change.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/cone/cone.hpp"
#include "widelimit/engine/host/residual.hpp"

#include <cstdint>
#include <span>

/// Certificates, as far as their work grows with support × points or support × features: of chains without biases,
/// whose kernel is a function of a norm and an angle (a cone), and of all others, whose entries are enclosed layer by
/// layer. [docs/theory/certificates-proof.md]
namespace widelimit {

/// A ray from the origin that touches κ from below, but for rounding: κ(u) ≥ slope·u on its side of 0; κ(u)/u falls in
/// |u| before [low, high] and grows after it.
struct TouchingRay {
  double low = 0;
  double high = 0;
  double slope = 0;  ///< rounded so that the inequality holds
};

/// κ, convex on [−1, 1], and where it turns.
struct ConeProfile {
  host::ConeChain chain;
  double largest = 0;   ///< κ(1)
  double opposite = 0;  ///< κ(−1) as computed
  double lowest = 0;    ///< place of the minimum as computed; κ falls left of fall_end and grows right of growth_begin
  double fall_end = 0;
  double growth_begin = 0;
  double lowest_value = 0;  ///< not above the minimum
  TouchingRay ray_above, ray_below;
};

/// How an entry H(a, N) = N·κ(a/N) is bounded over ranges of a and N.
enum class ConeRule : std::uint8_t {
  paper,     ///< EQ Theorem 4.2: a/N and N each in a range of its own
  interval,  ///< exactly
};

/// A ball: aᵢ = ⟨x, x̂ᵢ⟩ differs from its value at the point by radius·spreadᵢ + error at most, N lies in [inner,
/// outer].
struct ConeBall {
  Index point = 0;  ///< row of the inner products
  double radius = 0;
  double error = 0;
  double inner = 0, outer = 0;
  double box_error = 0;  ///< of the ranges that a box leaves
};

/// What bounds of entries are computed from, all in float64.
struct ConeRanges {
  EngineMatrix inner;   ///< ⟨x, x̂ᵢ⟩, points × support
  EngineMatrix spread;  ///< 1 × support; empty: all 1
  /// With a box, aᵢ also lies in middle ± (reach + box_error): balls × support. Empty: no box.
  EngineMatrix middle, reach;
};

/// A sum over the support that is asked for: on which ball, with which row of weights.
struct ConeSum {
  Index ball = 0;
  Index weights = 0;
};

/// Points and a support, for entries themselves.
struct ConePairs {
  EngineMatrix points, directions;
  EngineMatrix inner;                       ///< ⟨x, x̂ᵢ⟩, points × support
  std::span<const double> norms;            ///< of the points
  std::span<const double> lengths;          ///< of the support
  std::span<const std::int32_t> exponents;  ///< of 2, one for each sample
  double scale = 1;
};

/// Balls beside a support whose kernel is enclosed layer by layer.
struct ChainBalls {
  ChainView chain;          ///< in host memory
  EngineMatrix directions;  ///< xᵢ/‖x̃ᵢ‖
  std::span<const LiftedSample> samples;
  std::span<const LiftedRange> balls;
  /// c, c/centre_norm and the widths by which residuals are weighed: balls × features.
  MatrixView<const double> centre, unit, half;
  bool euclidean = false;
};

/// What an engine with a memory of its own does for certificates. Engines in host memory need none of it: there the
/// same is done by the passes of widelimit/engine/host. All matrices are float64 and of the engine (Algebra); calls may
/// come from several threads. Arithmetic is IEEE 754 double rounded to nearest, products and sums with or without fused
/// multiply-add; κ and its slope have the errors that ConeKernel counts.
class Cones {
 public:
  virtual ~Cones() = default;

  /// to[q] = Σᵢ wᵢHᵢ with w row sums[q].weights of `weights` (any × support) and Hᵢ a bound of the entry over the ball:
  /// not above it where wᵢ > 0, not below it where wᵢ < 0, each but for norm·(value_error + 16·2⁻⁵³·κ(1)).
  virtual void bound_sums(const ConeProfile& profile, ConeRule rule, const ConeRanges& ranges,
                          std::span<const ConeBall> balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                          double* to) const = 0;
  /// Additions that a term of such a sum passes at most.
  [[nodiscard]] virtual double additions(Index support) const = 0;

  /// to(k, i) = 2^exponentsᵢ·scale·norms_k·lengthsᵢ·κ(u); 1 − |u| by differences where x is nearly parallel to xᵢ.
  virtual void entries(const host::ConeChain& chain, const ConePairs& pairs, EngineMatrix& to) const = 0;

  /// Row k of `inner` holds ⟨x, x̂ᵢ⟩ of some x with ‖x‖ = norms[k]; with uᵢ its cosines, kept within ±most, and w row
  /// which[k] of `weights`: values[k] = ‖x‖Σwᵢκ(uᵢ), along[k] = Σwᵢ(κ − uᵢκ')(uᵢ)/‖x‖, and entry i becomes wᵢκ'(uᵢ).
  virtual void slopes(const host::ConeChain& chain, double most, const EngineMatrix& weights,
                      std::span<const Index> which, std::span<const double> norms, EngineMatrix& inner, double* values,
                      double* along) const = 0;

  /// host::residual_of for every row of `directions`: ⟨x̂ᵢ, c⟩ and the reach.
  virtual void residuals(const EngineMatrix& directions, const host::ResidualFrame& frame, bool euclidean,
                         double* inner, double* reach) const = 0;
  /// b = Σᵢ wᵢỹᵢỹᵢᵀ with ỹᵢ = (half_j(x̂_ij − tᵢĉ_j), −last·tᵢ); entries of ỹ are right to two units of rounding, and a
  /// sum of n products is one in float64, in some order.  O(support·features²).
  virtual void squares(const EngineMatrix& directions, const host::ResidualFrame& frame, std::span<const double> t,
                       std::span<const double> w, double last, MatrixView<double> b) const = 0;

  /// to[q] encloses Σᵢ wᵢ·otherᵢ·valueᵢ over ball sums[q].ball (enclose_on_ball), w row sums[q].weights of `weights`;
  /// samples with wᵢ = 0 have no part in it.
  virtual void enclose_sums(const ChainBalls& balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                            Interval* to) const = 0;
  /// to[b·support + i]: how entry i changes over ball b.
  virtual void enclose_changes(const ChainBalls& balls, bool biased, EntryChange* to) const = 0;
  /// As `slopes`, of a chain: with lengths ‖xᵢ‖, values[k] = ΣwᵢΘᵢ, along[k] = Σwᵢ·2∂Θᵢ/∂q/d, and entry i becomes
  /// wᵢ‖xᵢ‖·∂Θᵢ/∂c/d, q = ‖x‖²/d and c = ⟨x, xᵢ⟩/d.
  virtual void chain_slopes(const ChainView& chain, const EngineMatrix& weights, std::span<const Index> which,
                            std::span<const double> norms, std::span<const double> lengths, EngineMatrix& inner,
                            double* values, double* along) const = 0;
};

/// An engine that has them.
class ConeEngine {
 public:
  virtual ~ConeEngine() = default;
  [[nodiscard]] virtual const Cones& cones() const = 0;
};

/// Those of an engine; null where it has none.
[[nodiscard]] const Cones* cones_of(const Engine& engine);

}  // namespace widelimit
