#pragma once

#include "widelimit/machine/factor/gram_factor.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace widelimit {

[[nodiscard]] inline double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
[[nodiscard]] inline double total(const std::vector<double>& a) { return std::accumulate(a.begin(), a.end(), 0.0); }

/// Newton step of logistic regression: (λI + pull·D·values)Δc = ρ − pull(d)Δb, and with a bias
/// Σ[r − D(values(Δc) + Δb)] = 0.
struct LogisticStep {
  const std::vector<double>& d;         ///< second derivatives of the losses
  const std::vector<double>& rho;       ///< pull(r) − λc
  const std::vector<double>& rho_star;  ///< star(ρ)
  double sum_r;                         ///< sum of the negative first derivatives
  double lambda;
  bool bias;
  Progress* progress = nullptr;  ///< can interrupt the step
};
struct LogisticMove {
  std::vector<double> c;
  double bias = 0;
};

/// Coordinates c of a linear function in the feature space: `values` on the samples, squared norm ‖β‖² = c·star(c), and
/// `pull`, the adjoint of `values` with respect to that norm.
class LogisticSpace {
 public:
  virtual ~LogisticSpace() = default;
  [[nodiscard]] virtual Index dimension() const = 0;
  [[nodiscard]] virtual std::vector<double> pull(const std::vector<double>& r) const = 0;
  [[nodiscard]] virtual std::vector<double> star(const std::vector<double>& c) const = 0;
  /// Returns the values on the samples, given star(c), which may be equal to them.
  [[nodiscard]] virtual std::vector<double> values(const std::vector<double>& c,
                                                   const std::vector<double>& star_c) const = 0;
  /// Computes a Newton step; returns false if the matrix cannot be factorised. Uses a damping above λ if rounding
  /// requires it.
  [[nodiscard]] virtual bool newton(const LogisticStep& step, LogisticMove& move) = 0;
  /// Returns the estimated condition number of the last factorised matrix; std::nullopt if there is none.
  [[nodiscard]] virtual std::optional<double> condition() = 0;
  [[nodiscard]] virtual std::size_t memory() const = 0;
};

/// Coordinates c = α: star(α) = Kα. Fastest, O(n³/3) per step; loses digits if K is singular and λ is small.
[[nodiscard]] std::unique_ptr<LogisticSpace> gram_space(const GramMatrix& k);
/// Coordinates c = β, K = LLᵀ: star(β) = β. O(n·rank²) per step. `factor` must outlive the result.
[[nodiscard]] std::unique_ptr<LogisticSpace> factor_space(const GramFactor& factor);

}  // namespace widelimit
