#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// One of the balls that a bound is asked for.
struct Ball {
  Index point = 0;
  double radius = 0;
  bool operator==(const Ball&) const = default;
};

/// ‖x‖ over a ball and box lies in [low, high].
struct NormRange {
  double low = 0;
  double high = 0;
};

/// The smallest box that holds a ball ∩ box: |x_j − centre_j| ≤ half_j.
struct Surrounding {
  std::vector<double> centre, half;
};

/// Ranges of a = ⟨x, xᵢ⟩/‖xᵢ‖ and of N = ‖x‖ over balls, rounding counted in: every bound sees a machine through them,
/// since Θ(x, xᵢ) = scale·‖xᵢ‖·N·κ(a/N).                                          [docs/theory/certificates.md]
class Ranges {
 public:
  /// What the ranges are of.
  enum class Of : std::uint8_t {
    ball,  ///< a ± δ‖xᵢ‖₁/‖xᵢ‖₂ (ℓ∞), a ± δ (ℓ2), and what the box leaves of it; N exactly
    published,  ///< EQ Theorem 4.2: a ± √d·δ, N ± √d·δ in ℓ∞; a ± δ, N ± δ in ℓ2; no box
  };

  /// Cost: a matrix product of points and support.
  Ranges(MatrixView<const double> support, MatrixView<const double> points, const CertifyOptions& options,
         Of of = Of::ball);
  explicit Ranges(const CertificateProblem& problem, Of of = Of::ball)
      : Ranges(problem.support, problem.points, problem.options, of) {}

  /// Fills a row of `low` and `high` and a norm for each ball: balls × support.  Without a box O(balls·support), with a
  /// box two matrix products.
  void evaluate(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high,
                std::span<NormRange> norms) const;

  /// Rows xᵢ/‖xᵢ‖, 0 for xᵢ = 0; each entry is right to two units of rounding.
  [[nodiscard]] MatrixView<const double> directions() const { return directions_.view(); }
  /// ‖xᵢ‖, right to norm_error() of itself.
  [[nodiscard]] std::span<const double> norms() const { return norms_; }
  [[nodiscard]] double norm_error() const { return norm_error_; }
  /// ⟨x, xᵢ⟩/‖xᵢ‖ at the points themselves: points × support; off by inner_error()·‖x‖ at most.
  [[nodiscard]] MatrixView<const double> inner() const { return inner_.view(); }
  [[nodiscard]] double inner_error() const { return inner_error_; }
  /// ‖x‖ of the points.
  [[nodiscard]] std::span<const double> point_norms() const { return point_norms_; }

  /// Of ℓ2 balls too; holds every x of ball and box in spite of rounding.
  [[nodiscard]] Surrounding surrounding(const Ball& ball) const;
  [[nodiscard]] NormRange norm_range(const Ball& ball) const;

 private:
  void widen(const Ball& ball, const NormRange& norm, double* low, double* high) const;
  void cut_by_box(std::span<const Ball> balls, MatrixView<double> low, MatrixView<double> high) const;

  MatrixView<const double> support_, points_;
  const CertifyOptions& options_;
  Of of_;
  Matrix<double> directions_;
  Matrix<double> absolute_;  ///< |directions|, where a box is given and some entry is negative
  std::vector<double> norms_;
  std::vector<double> spread_;  ///< by how much a moves for a unit of radius
  Matrix<double> inner_;
  std::vector<double> point_norms_;
  double norm_error_ = 0;
  double inner_error_ = 0;
};

/// ‖row‖₂ and ‖row‖₁ in long double, so that squares of large and small numbers are numbers.
[[nodiscard]] double euclidean_norm(const double* row, Index size);
[[nodiscard]] double sum_norm(const double* row, Index size);

}  // namespace widelimit
