#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/factor/low_rank.hpp"

#include <optional>

namespace widelimit {

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
