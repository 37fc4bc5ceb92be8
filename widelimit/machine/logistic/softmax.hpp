#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/logistic/logistic.hpp"

namespace widelimit {

/// Multinomial logistic regression [docs/theory/machines.md], labels 0 … classes − 1, one output for each class:
///
///     min over α, b of  λ/2 Σ_c α_cᵀKα_c + Σ wᵢ [log Σ_c e^{g_ic} − g_{i,yᵢ}],  g_c = Kα_c + b_c.
///
/// Newton's method in the features L of K = LLᵀ, the step by Cholesky or by conjugate gradients, with a line search.
/// With π the probabilities and r_ic = wᵢ(1{c = yᵢ} − π_ic), Σ_c‖Lᵀr_c‖²/(2λ) taken from Σ wᵢ H(πᵢ), H the entropy,
/// bounds the minimum from below; with a bias only where Σᵢ r_ic = 0, which π is first changed to. At the minimum λα =
/// r, so that Σ_c α_c = 0, and Σ b_c = 0 is chosen. Two classes at λ are fit_logistic at λ/2: g₁ − g₀ is its decision,
/// α₁ = −α₀ half its α, the objectives are equal. Error{input} for labels out of range and for a class without weight.
/// O(n³/3) once, then softmax_step for each iteration, and n² doubles (2n² for a float32 Gram).
[[nodiscard]] Fit fit_softmax(const GramMatrix& k, std::span<const Index> labels, Index classes,
                              const LogisticOptions& options = {});

}  // namespace widelimit
