#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/machine/logistic/line_search.hpp"
#include "widelimit/machine/svm/loss_proof.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Σ wᵢ [log Σ_c e^{h_ic} − h_{i,yᵢ}] of labels y = 0 … classes − 1, with its derivatives and its conjugate. Values h,
/// r and probabilities are samples × classes. All of it O(n·classes).
class SoftmaxLosses final : public ProvableLosses {
 public:
  /// No weights: all are 1.
  SoftmaxLosses(std::span<const Index> labels, Index classes, std::span<const double> weights);

  [[nodiscard]] Index samples() const { return static_cast<Index>(y_.size()); }
  [[nodiscard]] Index classes() const { return classes_; }
  [[nodiscard]] double value(const Matrix<double>& h) const;
  /// Of one sample, without its weight.
  [[nodiscard]] double loss_of(Index sample, const double* h) const;
  /// Probabilities π of the classes, and r = −l' = w(1{c = y} − π).
  void derivatives(const Matrix<double>& h, Matrix<double>& pi, Matrix<double>& r) const;
  /// In place v ↦ Wv, W = w(diag π − ππᵀ) the second derivative of each sample.
  void curve(const Matrix<double>& pi, Matrix<double>& v) const;
  /// w(π_c·1{c = d} − π_cπ_d) of each sample.
  [[nodiscard]] std::vector<double> curvature(const Matrix<double>& pi, Index c, Index d) const;
  /// Along h + t·change.
  [[nodiscard]] Slice slice(const Matrix<double>& h, const Matrix<double>& change, double t) const;

  /// Changes π and r as little as makes Σᵢ r_ic = 0 for every class, which the dual of a bias asks: π moves towards
  /// one distribution for all samples, up to what entries of r right to a factor 1 ± eta leave unknown; returns that,
  /// in entries of π.
  double balance(Matrix<double>& pi, Matrix<double>& r, double eta = 0) const;
  /// −Σ wᵢ Σ_c π_ic log π_ic.
  [[nodiscard]] double entropy(const Matrix<double>& pi) const;
  /// Of the probabilities at the best bias, where there is one (softmax_proof.cpp). The gap of Fenchel and Young is w
  /// times their divergence from those of the outputs.
  [[nodiscard]] DualPoint dual_point(const Matrix<double>& outputs, bool bias) const override;
  /// Nothing with a bias.
  [[nodiscard]] std::optional<DualPoint> dual_point_near(const Matrix<double>& multipliers,
                                                         const Matrix<double>& outputs, bool bias) const override;

 private:
  /// The rest of a point whose r, of the probabilities `balanced` up to `eta`, that of the label's own class up to
  /// `own_off` more, is set.
  void set_gaps(const Matrix<double>& outputs, const Matrix<double>& balanced, double eta, double own_off,
                DualPoint& point) const;

  std::vector<Index> y_;
  Index classes_;
  std::vector<double> w_;
};

}  // namespace widelimit
