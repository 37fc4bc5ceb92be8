#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// Factor L of a low-rank approximation L Lᵀ of a Gram matrix, in float32 or float64 on an engine, built in blocks of
/// columns. Sums over samples use float64 in both cases: float32 accumulates at most a few thousand rows.
class LowRank {
 public:
  LowRank(const Algebra& algebra, Index samples, Index columns, Precision precision)
      : algebra_(algebra), l_(algebra.allocate(samples, columns, precision)) {}

  [[nodiscard]] Index rank() const { return rank_; }
  [[nodiscard]] bool single() const { return l_.precision() == Precision::f32; }
  /// Computes c −= L L(chosen)ᵀ, where c holds the columns `chosen` of the matrix. O(n·rank·chosen).
  void take_from(Matrix<double>& c, std::span<const Index> chosen) const;
  /// Appends columns; c is overwritten with their stored (rounded) values.
  void append(Matrix<double>& c);
  /// Releases the memory of unused columns if they are at least half of all.
  void give_back_unused();
  /// Multiplies row i by scale[i].
  void scale_rows(std::span<const double> scale);
  /// Returns the upper triangle of LᵀL + shift·I. O(n·rank²).
  [[nodiscard]] EngineMatrix inner(double shift) const;
  /// Compute Lᵀr and z −= L s. O(n·rank·columns).
  [[nodiscard]] Matrix<double> transposed_times(MatrixView<const double> r) const;
  void subtract_times(const Matrix<double>& s, MatrixView<double> z) const;
  [[nodiscard]] std::size_t bytes() const { return l_.bytes(); }

 private:
  [[nodiscard]] EngineMatrix known() const { return l_.block(0, 0, l_.rows(), rank_); }
  void multiply(Transpose op, MatrixView<const double> v, MatrixView<double> out) const;

  const Algebra& algebra_;
  EngineMatrix l_;  ///< samples × capacity; the first rank_ columns are used
  Index rank_ = 0;
};

/// Options of a preconditioner for A = S K S + c I.
struct PreconditionerOptions {
  /// Number of columns of L. If empty: as many as save more work in products with K than they cost, at most half the
  /// samples.
  std::optional<Index> rank;
  std::optional<std::size_t> memory;  ///< memory limit in bytes
  Progress* progress = nullptr;
};

/// Preconditioner (L Lᵀ + c′I)⁻¹ for S K S + c I, with L of `rank` columns from a randomly pivoted Cholesky
/// factorisation: blocks of pivots are drawn with probability proportional to the residual diagonal, so that near
/// copies of a sample are not drawn twice (Chen, Epperly, Tropp, Webber 2023). c′ = c + the mean of the residual
/// diagonal. L is float32 if the difference v − L(c′I + LᵀL)⁻¹Lᵀv keeps enough digits: twice the rank in the same
/// memory. O(n rank²) and `rank` columns of K; n·rank numbers.
class Preconditioner {
 public:
  Preconditioner(const GramMatrix& k, std::span<const double> scale, double shift,
                 const PreconditionerOptions& options);
  /// Computes z = (L Lᵀ + c′I)⁻¹ r. O(n rank columns).
  void apply(MatrixView<const double> r, MatrixView<double> z) const;
  [[nodiscard]] Index rank() const { return rank_; }
  [[nodiscard]] bool single() const { return l_ && l_->single(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void factor(std::span<const double> scale, Progress* progress);

  Index rank_ = 0;
  const Algebra& algebra_;
  std::optional<LowRank> l_;
  EngineMatrix inner_;  ///< U of c′I + LᵀL = UᵀU
  double shift_ = 0;    ///< c′
};

}  // namespace widelimit
