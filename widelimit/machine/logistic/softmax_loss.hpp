#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/machine/logistic/line_search.hpp"
#include "widelimit/machine/logistic/loss_proof.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Loss Σ wᵢ [log Σ_c e^{h_ic} − h_{i,yᵢ}] of labels y = 0 … classes − 1, with its derivatives and its conjugate.
/// Values h, r and probabilities are samples × classes. All functions are O(n·classes).
class SoftmaxLosses final : public ProvableLosses {
 public:
  /// Empty weights mean 1.
  SoftmaxLosses(std::span<const Index> labels, Index classes, std::span<const double> weights);

  [[nodiscard]] Index samples() const { return static_cast<Index>(y_.size()); }
  [[nodiscard]] Index classes() const { return classes_; }
  [[nodiscard]] double value(const Matrix<double>& h) const;
  /// Returns the loss of one sample, without its weight.
  [[nodiscard]] double loss_of(Index sample, const double* h) const;
  /// Computes class probabilities π and r = −l' = w(1{c = y} − π).
  void derivatives(const Matrix<double>& h, Matrix<double>& pi, Matrix<double>& r) const;
  /// Computes v ↦ Wv in place, W = w(diag π − ππᵀ) the second derivative of each sample.
  void curve(const Matrix<double>& pi, Matrix<double>& v) const;
  /// Returns w(π_c·1{c = d} − π_cπ_d) of each sample.
  [[nodiscard]] std::vector<double> curvature(const Matrix<double>& pi, Index c, Index d) const;
  /// Evaluates the loss along h + t·change.
  [[nodiscard]] Slice slice(const Matrix<double>& h, const Matrix<double>& change, double t) const;

  /// Adjusts π and r minimally so that Σᵢ r_ic = 0 for every class, which the dual with a bias requires: π moves
  /// towards one distribution for all samples. Entries of r are accurate to a factor 1 ± eta; returns the resulting
  /// uncertainty of the balance, in entries of π.
  double balance(Matrix<double>& pi, Matrix<double>& r, double eta = 0) const;
  /// Returns −Σ wᵢ Σ_c π_ic log π_ic.
  [[nodiscard]] double entropy(const Matrix<double>& pi) const;
  /// Returns the dual point of the probabilities at the best bias, if there is a bias (softmax_proof.cpp). The
  /// Fenchel–Young gap is w times their divergence from those of the outputs.
  [[nodiscard]] DualPoint dual_point(const Matrix<double>& outputs, bool bias) const override;
  /// Returns std::nullopt with a bias.
  [[nodiscard]] std::optional<DualPoint> dual_point_near(const Matrix<double>& multipliers,
                                                         const Matrix<double>& outputs, bool bias) const override;

 private:
  /// Completes a point whose r is set. r belongs to the probabilities `balanced`, accurate to `eta`, and for the class
  /// of the label to `own_rounding` more.
  void set_gaps(const Matrix<double>& outputs, const Matrix<double>& balanced, double eta, double own_rounding,
                DualPoint& point) const;

  std::vector<Index> y_;
  Index classes_;
  std::vector<double> w_;
};

}  // namespace widelimit
