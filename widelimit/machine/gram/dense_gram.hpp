#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"

#include <cstddef>
#include <optional>

namespace widelimit {

/// A symmetric Gram matrix in float64: the caller's own where it is that already, else a copy.
class DenseGram {
 public:
  /// Error{input} as check_gram says.  O(n²).
  explicit DenseGram(const AnyView& k, int threads = 0);

  [[nodiscard]] Index count() const { return view_.rows; }
  /// As it was given.
  [[nodiscard]] const AnyView& source() const { return source_; }
  [[nodiscard]] const double* row(Index i) const { return view_.row(i); }
  /// Mean of K_ii.
  [[nodiscard]] double mean_diagonal() const;
  /// product = K·factors, for `columns` row-major columns.  O(n²·columns).
  void multiply(const double* factors, double* product, Index columns = 1) const;
  /// Relative rounding of its entries: that of the precision they came in.
  [[nodiscard]] double epsilon() const { return epsilon_; }
  /// Bytes of the copy.
  [[nodiscard]] std::size_t memory() const;

 private:
  AnyView source_;
  Matrix<double> copy_;
  MatrixView<const double> view_;
  double epsilon_;
};

/// Below so many samples threads wait for each other longer than they work.
inline constexpr Index least_shared = 1000;

/// Factors the symmetric m, of which the upper triangle is read, in place; false where it is not positive definite. In
/// blocks of rows, after each of which `progress` may stop it.
[[nodiscard]] bool factorise_symmetric(MatrixView<double> m, Progress* progress = nullptr);
/// ‖m‖₁ of the symmetric m by its upper triangle.  O(n²).
[[nodiscard]] double symmetric_norm(MatrixView<const double> m);
/// In place m⁻¹x after factorise_symmetric, for `columns` columns one after the other.
void solve_symmetric(MatrixView<const double> m, double* x, Index columns = 1);

/// Cholesky factor of B = I + S·K·S/μ with S = diag(s), whose eigenvalues are at least 1 where K has none below 0: the
/// well-conditioned form of K + μS⁻² (Rasmussen & Williams 2006, §3.4.3).
class ShiftedFactor {
 public:
  explicit ShiftedFactor(Index n) : factor_(n, n, Content::unset) {}

  /// False where a leading minor is not positive.  O(n³/3).
  [[nodiscard]] bool factorise(const DenseGram& k, const double* s, double mu, Progress* progress = nullptr);
  /// In place B⁻¹x for `columns` columns, one after the other.  O(n²·columns).
  void solve(double* x, Index columns = 1) const;
  /// Estimate of the condition number of B.
  [[nodiscard]] double condition();

 private:
  Matrix<double> factor_;
  double norm_ = 0;  ///< ‖B‖₁
};

}  // namespace widelimit
