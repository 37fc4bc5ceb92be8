#pragma once

#include "widelimit/machine/gram_product.hpp"

namespace widelimit {

/// What a preconditioner for A = S K S + c I is made of.
struct PreconditionerOptions {
  Index rank = 0;
  int threads = 0;
  Progress* progress = nullptr;
};

/// (L Lᵀ + c′I)⁻¹ for S K S + c I, with L of `rank` columns from a Cholesky factorisation with pivots: blocks of
/// columns are drawn where the diagonal left over is large, each in proportion to it, so that near copies of a sample
/// are not drawn twice (Chen, Epperly, Tropp, Webber 2023). c′ = c + the mean of what is left over. O(n rank²) and
/// `rank` columns of K; n·rank doubles.
class Preconditioner {
 public:
  Preconditioner(const GramProduct& k, std::span<const double> scale, double shift,
                 const PreconditionerOptions& options);
  /// z = (L Lᵀ + c′I)⁻¹ r.  O(n rank columns).
  void apply(MatrixView<const double> r, MatrixView<double> z) const;
  [[nodiscard]] Index rank() const { return rank_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// False where nothing more is worth drawing.
  bool grow(const GramProduct& k, std::vector<double>& left, Index columns);
  void factor(std::span<const double> scale);

  int threads_;
  Index rank_ = 0;
  Matrix<double> l_;      ///< samples × as many columns as were asked for, of which rank_ count
  Matrix<double> inner_;  ///< U of c′I + LᵀL = UᵀU
  double shift_ = 0;      ///< c′
};

}  // namespace widelimit
