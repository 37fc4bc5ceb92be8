#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// A = S K S + c I with S = diag(scale), where scale is given: what a ridge machine of weights s² has to solve. A
/// sample of scale 0 takes no part: its unknown is 0 whatever the right side says.
struct RidgeMatrix {
  GramMatrix k;
  std::span<const double> scale;
  double shift = 0;

  [[nodiscard]] double scale_of(Index i) const { return scale.empty() ? 1.0 : scale[usize(i)]; }
  /// The diagonal that is added to S K S: c, and, for a sample of scale 0, a number as large as the others, so that it
  /// does not spoil the condition.
  [[nodiscard]] std::vector<double> added_diagonal() const;
  /// out = b − A x.  O(n² columns).
  void residual(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> out) const;
};

/// Precision of a factor. Answers are refined in float64 either way; a float32 factor takes half the time and memory,
/// and is given up for float64 where the condition number is too large for refinement to converge.
enum class FactorPrecision : std::uint8_t {
  automatic,  ///< that of the Gram matrix
  f32,
  f64,
};

/// A = UᵀU on the engine of K, which must have passed its check.  n³/3 multiply-adds and n² numbers.
class Cholesky {
 public:
  Cholesky(const RidgeMatrix& a, FactorPrecision factor, Progress* progress);

  /// Order of the first leading minor that is not positive, or, where the condition number is beyond 1/ε, of the one
  /// that rounding alone keeps positive; 0 where A is positive definite. Nothing below makes sense where it is not.
  [[nodiscard]] Index failed_minor() const { return failed_minor_; }
  /// Order of the leading minor that rounding comes nearest to: its last row has the least part of its own.
  [[nodiscard]] Index weakest_minor() const;
  /// Estimate of ‖A‖₁‖A⁻¹‖₁.
  [[nodiscard]] double condition() const { return condition_; }
  /// log det A = 2 Σ log U_ii.
  [[nodiscard]] double log_determinant() const;
  [[nodiscard]] bool single() const { return factor_.precision() == Precision::f32; }
  [[nodiscard]] std::string method() const;
  [[nodiscard]] std::size_t bytes() const { return factor_.bytes(); }

  /// b = A⁻¹b, n × m without gaps between rows; returns the steps of refinement: one for a float64 factor, for float32
  /// as many as bring the residual down to that of float64, or, where they do not, a new factor in float64.
  Index solve(MatrixView<double> b);
  /// U itself.
  [[nodiscard]] const EngineMatrix& factor() const { return factor_; }

 private:
  /// False where a float32 factor does not do.
  bool factorise(Precision precision);
  [[nodiscard]] Index refine_single(MatrixView<const double> b, MatrixView<double> x) const;

  RidgeMatrix a_;
  const Algebra& algebra_;
  Progress* progress_;
  EngineMatrix factor_;
  Index failed_minor_ = 0;
  double norm_ = 0;
  double condition_ = 0;
};

}  // namespace widelimit
