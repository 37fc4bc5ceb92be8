#pragma once

#include "widelimit/finite/training/loss.hpp"
#include "widelimit/machine/logistic/line_search.hpp"
#include "widelimit/machine/logistic/loss_proof.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Loss Σ wᵢ log(1 + e^{−yᵢ(hᵢ + b)}) of labels ±1, with its derivatives and its conjugate. All functions are O(n).
class LogisticLosses final : public ProvableLosses {
 public:
  /// Empty weights mean 1.
  LogisticLosses(std::span<const double> labels, std::span<const double> weights);

  [[nodiscard]] std::size_t size() const { return y_.size(); }
  [[nodiscard]] double value(const std::vector<double>& h, double bias) const;
  /// Computes r = −l' and d = l'' of each sample.
  void derivatives(const std::vector<double>& h, double bias, std::vector<double>& r, std::vector<double>& d) const;
  /// Evaluates the loss along h + t·change and bias + t·bias_change.
  [[nodiscard]] Slice slice(const std::vector<double>& h, double bias, const std::vector<double>& change,
                            double bias_change, double t) const;
  /// Returns r with the larger class scaled down so that Σr = 0.
  [[nodiscard]] std::vector<double> balanced(std::vector<double> r) const;
  /// Returns −Σ [aᵢ log(aᵢ/wᵢ) + (wᵢ − aᵢ) log(1 − aᵢ/wᵢ)], a = |r|.
  [[nodiscard]] double entropy(const std::vector<double>& r) const;
  /// Returns the dual point, with the larger class scaled down if there is a bias. With q = |r|/w and p = σ(−yh), the
  /// Fenchel–Young gap is w times the divergence of (q, 1 − q) from (p, 1 − p).
  [[nodiscard]] DualPoint dual_point(const Matrix<double>& outputs, bool bias) const override;
  [[nodiscard]] std::optional<DualPoint> dual_point_near(const Matrix<double>& multipliers,
                                                         const Matrix<double>& outputs, bool bias) const override;

 private:
  /// Returns the point with |r| = a in the box, with the larger class scaled down if there is a bias.
  [[nodiscard]] DualPoint point_of(const std::vector<double>& a, const Matrix<double>& outputs, bool bias) const;

  std::vector<double> y_;
  std::vector<double> w_;
};

}  // namespace widelimit
