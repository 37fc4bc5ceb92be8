#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// A = S K S + c I with S = diag(scale) (S = I if `scale` is empty): the matrix of a ridge machine with weights s². A
/// sample with scale 0 is excluded: its unknown is 0 for any right-hand side.
struct RidgeMatrix {
  GramMatrix k;
  std::span<const double> scale;
  double shift = 0;

  [[nodiscard]] double scale_of(Index i) const { return factor_at(scale, i); }
  /// Returns the diagonal added to S K S: c, and for a sample with scale 0 the largest diagonal entry of A, which keeps
  /// the condition number unaffected.
  [[nodiscard]] std::vector<double> added_diagonal() const;
  /// Writes A to `a`, of either precision, and returns ‖A‖∞. Throws Error{numerical} if A exceeds the range of float64.
  double write(EngineMatrix& a, Progress* progress) const;
  /// Computes out = b − A x. O(n² columns).
  void residual(MatrixView<const double> x, MatrixView<const double> b, MatrixView<double> out) const;
};

/// Precision of a factor. Solutions are refined in float64 in both cases. A float32 factor takes half the time and
/// memory; it is replaced by a float64 factor if the condition number is too large for refinement to converge.
enum class FactorPrecision : std::uint8_t {
  automatic,  ///< precision of the Gram matrix
  f32,
  f64,
};

/// Cholesky factorisation A = UᵀU on the engine of K, which must have passed its check. n³/3 multiply-adds and n²
/// numbers.
class Cholesky {
 public:
  Cholesky(const RidgeMatrix& a, FactorPrecision factor, Progress* progress);

  /// Order of the first leading minor that is not positive; 0 if A is positive definite. If the condition number
  /// exceeds 1/ε, A counts as not positive definite and this is weakest_minor(). If not 0, the factor must not be used.
  [[nodiscard]] Index failed_minor() const { return failed_minor_; }
  /// Order of the leading minor closest to losing positivity by rounding: its last row has the smallest ratio
  /// U_ii²/A_ii.
  [[nodiscard]] Index weakest_minor() const;
  /// Estimate of ‖A‖₁‖A⁻¹‖₁.
  [[nodiscard]] double condition() const { return condition_; }
  /// log det A = 2 Σ log U_ii.
  [[nodiscard]] double log_determinant() const;
  [[nodiscard]] bool single() const { return factor_.precision() == Precision::f32; }
  [[nodiscard]] std::string method() const;
  [[nodiscard]] std::size_t bytes() const { return factor_.bytes(); }

  /// Computes b = A⁻¹b in place, n × m and contiguous. Returns the number of refinement steps: one for a float64
  /// factor; for float32 as many as reduce the residual to that of float64. Refactors in float64 if refinement does not
  /// converge.
  Index solve(MatrixView<double> b);
  /// The factor U.
  [[nodiscard]] const EngineMatrix& factor() const { return factor_; }

 private:
  /// Returns false if a float32 factor is not accurate enough.
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
