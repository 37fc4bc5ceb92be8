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

/// One Newton step of logistic regression: (λI + pull·D·values)Δc = ρ − pull(d)Δb, and with a bias
/// Σ[r − D(values(Δc) + Δb)] = 0.
struct LogisticStep {
  const std::vector<double>& d;         ///< second derivatives of the losses
  const std::vector<double>& rho;       ///< pull(r) − λc
  const std::vector<double>& rho_star;  ///< star(ρ)
  double sum_r;                         ///< Σ of minus the first derivatives
  double lambda;
  bool bias;
  Progress* progress = nullptr;  ///< may stop it
};
struct LogisticMove {
  std::vector<double> c;
  double bias = 0;
};

/// Coordinates c of a linear function in the feature space: its values on the samples, its norm by ‖β‖² = c·star(c),
/// and pull, the transpose of values as that norm sees it.
class LogisticSpace {
 public:
  virtual ~LogisticSpace() = default;
  [[nodiscard]] virtual Index dimension() const = 0;
  [[nodiscard]] virtual std::vector<double> pull(const std::vector<double>& r) const = 0;
  [[nodiscard]] virtual std::vector<double> star(const std::vector<double>& c) const = 0;
  /// On the samples, given star(c), which may be the same.
  [[nodiscard]] virtual std::vector<double> values(const std::vector<double>& c,
                                                   const std::vector<double>& star_c) const = 0;
  /// False where nothing can be factored. A damping above λ is taken where rounding needs it.
  [[nodiscard]] virtual bool newton(const LogisticStep& step, LogisticMove& move) = 0;
  /// Estimate of the condition number of what the last step factored; nothing where there was none.
  [[nodiscard]] virtual std::optional<double> condition() = 0;
  [[nodiscard]] virtual std::size_t memory() const = 0;
};

/// c = α: star(α) = Kα. Fastest, O(n³/3) for a step; loses digits where K is singular and λ small.
[[nodiscard]] std::unique_ptr<LogisticSpace> gram_space(const GramMatrix& k);
/// c = β, K = LLᵀ: star(β) = β.  O(n·rank²) for a step. `factor` must outlive it.
[[nodiscard]] std::unique_ptr<LogisticSpace> factor_space(const GramFactor& factor);

}  // namespace widelimit
