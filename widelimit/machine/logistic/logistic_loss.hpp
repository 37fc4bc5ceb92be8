#pragma once

#include "widelimit/finite/training/loss.hpp"
#include "widelimit/machine/logistic/line_search.hpp"
#include "widelimit/machine/svm/loss_proof.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Σ wᵢ log(1 + e^{−yᵢ(hᵢ + b)}) of labels ±1, with its derivatives and its conjugate. All of it O(n).
class LogisticLosses final : public ProvableLosses {
 public:
  /// No weights: all are 1.
  LogisticLosses(std::span<const double> labels, std::span<const double> weights);

  [[nodiscard]] std::size_t size() const { return y_.size(); }
  [[nodiscard]] double value(const std::vector<double>& h, double bias) const;
  /// r = −l' and d = l'' of each sample.
  void derivatives(const std::vector<double>& h, double bias, std::vector<double>& r, std::vector<double>& d) const;
  /// Along h + t·change, both with their bias.
  [[nodiscard]] Slice slice(const std::vector<double>& h, double bias, const std::vector<double>& change,
                            double bias_change, double t) const;
  /// The larger class of r scaled down until Σr = 0.
  [[nodiscard]] std::vector<double> balanced(std::vector<double> r) const;
  /// −Σ [aᵢ log(aᵢ/wᵢ) + (wᵢ − aᵢ) log(1 − aᵢ/wᵢ)], a = |r|.
  [[nodiscard]] double entropy(const std::vector<double>& r) const;
  /// The larger class scaled down, where there is a bias. With q = |r|/w and p = σ(−yh) the gap of Fenchel and Young is
  /// w times the divergence of (q, 1 − q) from (p, 1 − p).
  [[nodiscard]] DualPoint dual_point(const Matrix<double>& outputs, bool bias) const override;
  [[nodiscard]] std::optional<DualPoint> dual_point_near(const Matrix<double>& multipliers,
                                                         const Matrix<double>& outputs, bool bias) const override;

 private:
  /// Of |r| = a in the box, one of whose classes is scaled down where there is a bias.
  [[nodiscard]] DualPoint point_of(const std::vector<double>& a, const Matrix<double>& outputs, bool bias) const;

  std::vector<double> y_;
  std::vector<double> w_;
};

}  // namespace widelimit
