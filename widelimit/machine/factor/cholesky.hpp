#pragma once

#include "widelimit/machine/factor/ridge_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace widelimit {

/// Precision of a factor. Answers are refined in float64 either way; a float32 factor takes half the time and memory,
/// and is given up for float64 where the condition number is too large for refinement to converge.
enum class Factor : std::uint8_t {
  automatic,  ///< that of the Gram matrix
  f32,
  f64,
};

/// A = UᵀU, blocked, on a team of threads. K must have passed check_gram.  n³/3 multiply-adds and n² numbers.
class Cholesky {
 public:
  Cholesky(const RidgeMatrix& a, Factor factor, int threads, Progress* progress);

  /// Order of the first leading minor that is not positive, or, where the condition number is beyond 1/ε, of the one
  /// that rounding alone keeps positive; 0 where A is positive definite. Nothing below makes sense where it is not.
  [[nodiscard]] Index failed_minor() const { return failed_minor_; }
  /// Estimate of ‖A‖₁‖A⁻¹‖₁.
  [[nodiscard]] double condition() const { return condition_; }
  /// log det A = 2 Σ log U_ii.
  [[nodiscard]] double log_determinant() const;
  [[nodiscard]] bool single() const { return twice_.rows() == 0; }
  [[nodiscard]] std::string method() const;
  [[nodiscard]] std::size_t bytes() const;

  /// b = A⁻¹b, n × m without gaps between rows; returns the steps of refinement: one for a float64 factor, for float32
  /// as many as bring the residual down to that of float64, or, where they do not, a new factor in float64.
  Index solve(MatrixView<double> b);
  /// U itself; empty where the factor is float32.
  [[nodiscard]] Matrix<double> factor() && { return std::move(twice_); }

 private:
  void factor_single();
  void factor_twice();
  [[nodiscard]] Index weakest_minor() const;
  void back_substitute(MatrixView<double> b) const;
  [[nodiscard]] Index refine_single(MatrixView<const double> b, MatrixView<double> x) const;

  RidgeMatrix a_;
  int threads_;
  Progress* progress_;
  Matrix<float> single_;
  Matrix<double> twice_;
  Index failed_minor_ = 0;
  double norm_ = 0;
  double condition_ = 0;
};

}  // namespace widelimit
