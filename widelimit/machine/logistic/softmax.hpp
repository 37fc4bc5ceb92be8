#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/logistic/logistic.hpp"

namespace widelimit {

/// Multinomial logistic regression [docs/theory/machines.md], labels 0 … classes − 1, one output per class:
///
///     min over α, b of  λ/2 Σ_c α_cᵀKα_c + Σ wᵢ [log Σ_c e^{g_ic} − g_{i,yᵢ}],  g_c = Kα_c + b_c.
///
/// Newton's method in the features L of K = LLᵀ, with steps by Cholesky or conjugate gradients, and a line search. With
/// π the probabilities and r_ic = wᵢ(1{c = yᵢ} − π_ic), Σ wᵢ H(πᵢ) − Σ_c‖Lᵀr_c‖²/(2λ), H the entropy, is a lower bound
/// of the minimum; with a bias only if Σᵢ r_ic = 0, for which π is first adjusted. At the minimum λα = r, so that
/// Σ_c α_c = 0; Σ b_c = 0 is chosen. Two classes at λ are equivalent to fit_logistic at λ/2: g₁ − g₀ is its decision,
/// α₁ = −α₀ half its α, and the objectives are equal. Throws Error{input} for labels out of range and for a class
/// without weight. O(n³/3) once, then softmax_step per iteration, and n² doubles (2n² for a float32 K).
[[nodiscard]] Fit fit_softmax(const GramMatrix& k, std::span<const Index> labels, Index classes,
                              const LogisticOptions& options = {});

}  // namespace widelimit
