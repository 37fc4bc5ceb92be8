#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/machine/line_search.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Σ wᵢ [log Σ_c e^{h_ic} − h_{i,yᵢ}] of labels y = 0 … classes − 1, with its derivatives and its conjugate. Values h,
/// r and probabilities are samples × classes. All of it O(n·classes).
class SoftmaxLosses {
 public:
  /// No weights: all are 1.
  SoftmaxLosses(std::span<const Index> labels, Index classes, std::span<const double> weights);

  [[nodiscard]] Index samples() const { return static_cast<Index>(y_.size()); }
  [[nodiscard]] Index classes() const { return classes_; }
  [[nodiscard]] double value(const Matrix<double>& h) const;
  /// Probabilities π of the classes, and r = −l' = w(1{c = y} − π).
  void derivatives(const Matrix<double>& h, Matrix<double>& pi, Matrix<double>& r) const;
  /// In place v ↦ Wv, W = w(diag π − ππᵀ) the second derivative of each sample.
  void curve(const Matrix<double>& pi, Matrix<double>& v) const;
  /// w(π_c·1{c = d} − π_cπ_d) of each sample.
  [[nodiscard]] std::vector<double> curvature(const Matrix<double>& pi, Index c, Index d) const;
  /// Along h + t·change.
  [[nodiscard]] Slice slice(const Matrix<double>& h, const Matrix<double>& change, double t) const;

  /// Changes π and r as little as makes Σᵢ r_ic = 0 for every class, which the dual of a bias asks: π moves towards
  /// one distribution for all samples.
  void balance(Matrix<double>& pi, Matrix<double>& r) const;
  /// −Σ wᵢ Σ_c π_ic log π_ic.
  [[nodiscard]] double entropy(const Matrix<double>& pi) const;

 private:
  std::vector<Index> y_;
  Index classes_;
  std::vector<double> w_;
};

}  // namespace widelimit
