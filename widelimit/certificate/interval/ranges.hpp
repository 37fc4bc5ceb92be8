#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/ball.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace widelimit {

/// The smallest box that contains ball ∩ box: |x_j − centre_j| ≤ half_j.
struct Surrounding {
  std::vector<double> centre, half;
};

/// Ranges of a = ⟨x, xᵢ⟩/‖xᵢ‖ and of N = ‖x‖ over balls, including rounding. All bounds depend on a ball only through
/// them, since Θ(x, xᵢ) = scale·‖xᵢ‖·N·κ(a/N). [docs/theory/certificates-proof.md#interval]
class Ranges {
 public:
  /// The set that ranges enclose.
  enum class Of : std::uint8_t {
    ball,  ///< a ± δ‖xᵢ‖₁/‖xᵢ‖₂ (ℓ∞), a ± δ (ℓ2), intersected with the range over the box; N exactly
    published,  ///< EQ Theorem 4.2: a ± √d·δ, N ± √d·δ in ℓ∞; a ± δ, N ± δ in ℓ2; no box
  };

  explicit Ranges(const CertificateProblem& problem, Of of = Of::ball);
  Ranges(const PointGeometry& geometry, MatrixView<const double> points, const CertifyOptions& options,
         Of of = Of::ball);

  /// Computes a row of `low` and `high` (balls × support) and a norm range for each ball. Without a box
  /// O(balls·support), with a box two matrix products.
  void evaluate(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high,
                std::span<Interval> norms) const;
  /// Computes the ranges that follow from the radius alone, for `count` samples from `begin` on; exact without a box.
  void widen(const Ball& ball, const Interval& norm, Index begin, Index count, double* low, double* high) const;
  /// Returns the parameters from which `widen` computes its ranges.
  [[nodiscard]] host::ConeSpread spread(const Ball& ball, const Interval& norm, Index begin) const;

  /// a differs from its value at the point by at most radius·(spread of the sample) + error.
  struct Widening {
    double radius = 0, error = 0;
  };
  [[nodiscard]] Widening widening(const Ball& ball) const;
  /// Returns whether all samples have spread 1 (`radius` then includes the factor); otherwise the spreads are
  /// sum_norms.
  [[nodiscard]] bool common() const { return of_ == Of::published || shape_.norm == Norm::l2; }
  /// Returns whether a box restricts the ranges.
  [[nodiscard]] bool boxed() const { return of_ == Of::ball && shape_.box.has_value(); }
  /// Computes centre c and half-widths r of the box that surrounds ball and box. a lies in
  /// ⟨x̂ᵢ, c⟩ ± (⟨|x̂ᵢ|, r⟩ + returned error), with both products as computed.
  [[nodiscard]] double surround(const Ball& ball, double* centre, double* half) const;

  [[nodiscard]] const PointGeometry& geometry() const { return geometry_; }
  [[nodiscard]] MatrixView<const double> directions() const { return geometry_.support.directions.view(); }
  [[nodiscard]] std::span<const double> norms() const { return geometry_.support.norms; }
  [[nodiscard]] MatrixView<const double> inner() const { return geometry_.inner.view(); }
  [[nodiscard]] double inner_error() const { return geometry_.inner_error; }
  [[nodiscard]] std::span<const double> point_norms() const { return geometry_.norms; }
  [[nodiscard]] double norm_error() const { return geometry_.support.norm_error; }

  /// Contains every x of ball and box in spite of rounding; also for ℓ2 balls.
  [[nodiscard]] Surrounding surrounding(const Ball& ball) const;
  /// Returns the range of ‖x‖ over ball and box.
  [[nodiscard]] Interval norm_range(const Ball& ball) const;

 private:
  void cut_by_box(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high) const;

  std::shared_ptr<const SupportGeometry> support_owner_;
  std::shared_ptr<const PointGeometry> points_owner_;
  const PointGeometry& geometry_;
  MatrixView<const double> points_;
  BallShape shape_;
  Of of_;
};

}  // namespace widelimit
