#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// L of a Gram matrix's low-rank part L Lᵀ, in float32 or float64 on an engine, one block of columns after the other.
/// Sums over samples are float64 either way: float32 rounds within a few thousand rows only.
class LowRank {
 public:
  LowRank(const Algebra& algebra, Index samples, Index columns, Precision precision)
      : algebra_(algebra), l_(algebra.allocate(samples, columns, precision)) {}

  [[nodiscard]] Index rank() const { return rank_; }
  [[nodiscard]] bool single() const { return l_.precision() == Precision::f32; }
  /// c −= L L(chosen)ᵀ, c being columns `chosen` of the matrix.  O(n·rank·chosen).
  void take_from(Matrix<double>& c, std::span<const Index> chosen) const;
  /// Columns more; c becomes what is kept of them.
  void append(Matrix<double>& c);
  /// Gives back the memory of columns that did not come, where they are half or more.
  void give_back_unused();
  /// Row i times scale[i].
  void scale_rows(std::span<const double> scale);
  /// LᵀL + shift·I, its upper triangle.  O(n·rank²).
  [[nodiscard]] EngineMatrix inner(double shift) const;
  /// Lᵀr and z −= L s.  O(n·rank·columns).
  [[nodiscard]] Matrix<double> transposed_times(MatrixView<const double> r) const;
  void subtract_times(const Matrix<double>& s, MatrixView<double> z) const;
  [[nodiscard]] std::size_t bytes() const { return l_.bytes(); }

 private:
  [[nodiscard]] EngineMatrix known() const { return l_.block(0, 0, l_.rows(), rank_); }
  void multiply(Transpose op, MatrixView<const double> v, MatrixView<double> out) const;

  const Algebra& algebra_;
  EngineMatrix l_;  ///< samples × as many columns as were asked for, of which rank_ count
  Index rank_ = 0;
};

/// What a preconditioner for A = S K S + c I is made of.
struct PreconditionerOptions {
  /// Columns of L; none: as many as save more work in products with K than they cost, at most half the samples.
  std::optional<Index> rank;
  std::optional<std::size_t> memory;  ///< bytes it may take
  Progress* progress = nullptr;
};

/// (L Lᵀ + c′I)⁻¹ for S K S + c I, with L of `rank` columns from a Cholesky factorisation with pivots: blocks of
/// columns are drawn where the diagonal left over is large, each in proportion to it, so that near copies of a sample
/// are not drawn twice (Chen, Epperly, Tropp, Webber 2023). c′ = c + the mean of what is left over. L is float32 where
/// that leaves the difference L(c′I + LᵀL)⁻¹Lᵀv − v digits enough: twice the rank in the same memory.
/// O(n rank²) and `rank` columns of K; n·rank numbers.
class Preconditioner {
 public:
  Preconditioner(const GramMatrix& k, std::span<const double> scale, double shift,
                 const PreconditionerOptions& options);
  /// z = (L Lᵀ + c′I)⁻¹ r.  O(n rank columns).
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
