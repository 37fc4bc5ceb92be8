#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>

namespace widelimit {

struct LogisticOptions {
  double lambda = 1;                ///< of λ/2‖β‖²; scikit-learn's C is 1/λ
  bool bias = false;                ///< unregularised bias b
  std::span<const double> weights;  ///< wᵢ ≥ 0; empty means 1
  double tolerance = 1e-8;          ///< on the relative duality gap, rounding included
  Index max_iterations = 200;
  bool check_definite = true;  ///< as in SvmOptions
  Progress* progress = nullptr;

  /// Throws Error{input} if λ or the tolerance is not positive and finite, or if max_iterations < 1.
  void validate() const;
};

/// ℓ2-regularised logistic regression, EQ Table 1 [docs/theory/machines.md], labels ±1:
///
///     min over α, b of  P = λ/2 αᵀKα + Σ wᵢ log(1 + e^{−yᵢgᵢ}),  g = Kα + b.
///
/// With r = w·y·σ(−yg), the gradient in the feature space is that of λα − r. Newton's method solves
/// (λI + DK)Δα = r − λα − DΔb, D = diag(wσ(g)σ(−g)), with a Cholesky factor of I + D^½KD^½/λ; the bias keeps Σα = 0.
/// With a line search it converges from any starting point. Every a with 0 ≤ aᵢ ≤ wᵢ (and Σyᵢaᵢ = 0 with a bias) gives
/// the lower bound of P
///
///     −1/(2λ) Σ aᵢaⱼyᵢyⱼKᵢⱼ − Σ [aᵢ log(aᵢ/wᵢ) + (wᵢ − aᵢ) log(1 − aᵢ/wᵢ)],
///
/// and a = yr gives the gap; with a bias the larger class is first scaled down to balance. The reported gap includes
/// rounding (loss_proof.hpp). Probabilities: probability.hpp. Throws Error{input} for labels other than ±1, and if one
/// class has no weight. A K that is not positive semi-definite ends as not_positive_definite. O(n³/3) per iteration,
/// and n² doubles (2n² for a float32 K).
[[nodiscard]] Fit fit_logistic(const GramMatrix& k, std::span<const double> labels,
                               const LogisticOptions& options = {});

}  // namespace widelimit
