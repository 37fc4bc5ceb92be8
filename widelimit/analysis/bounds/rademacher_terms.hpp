#pragma once

#include "widelimit/base/types.hpp"

#include <functional>

namespace widelimit {

/// Terms of a bound on the expected loss L_D by the empirical loss L_S. [docs/theory/bounds.md]
struct BoundTerms {
  double empirical = 0;   ///< L_S
  double complexity = 0;  ///< 2ρ times the empirical Rademacher complexity
  double confidence = 0;  ///< 3c√(log(2/δ)/(2n))

  [[nodiscard]] double value() const { return empirical + complexity + confidence; }
};

/// Quantities that determine the complexity of functions ⟨β, Φ(x)⟩ + b on a sample: at most f·(B√(tr K) + |b|√n)/n.
struct FunctionSize {
  Index samples = 0;   ///< n
  double norm = 0;     ///< B = ‖β‖ over all outputs
  double offset = 0;   ///< |b| over all outputs; 0 if no bias was fitted
  double trace = 0;    ///< Σ K(xᵢ, xᵢ)
  double outputs = 1;  ///< f: 1 for one output, else the contraction factor from several outputs to one loss
};

/// Constants of a bounded loss, and the confidence level.
struct BoundSetting {
  double lipschitz = 1;  ///< ρ
  double range = 1;      ///< c
  double delta = 0.05;   ///< probability that the bound fails

  /// Throws Error{input} unless 0 < δ < 1.
  void validate() const;
};

/// Returns the EQ bound L_S + 2ρB√(tr K)/n + 3c√(log(2/δ)/(2n)), valid for all functions of norm at most B with B fixed
/// before the sample is drawn. Throws Error{input} for n = 0.
[[nodiscard]] BoundTerms fixed_norm_bound(const FunctionSize& size, double empirical, const BoundSetting& setting);

/// Bound that holds uniformly over all norms.
struct UniformBound {
  BoundTerms terms;
  double scale = 1;   ///< s: the empirical loss is that of s·f
  double radius = 0;  ///< Γ = 2ᵏ ≥ ‖s·f‖
  double share = 1;   ///< share of δ assigned to this Γ
};

/// Returns the smallest bound over k. With probability 1 − δ, the bounds hold for all integers k, for functions of norm
/// at most 2ᵏ with wₖδ in place of δ, wₖ = 2/(3(|k|+1)(|k|+2)), Σ wₖ = 1; with a bias, |b| ≤ 2ʲ, for all pairs with
/// wₖwⱼδ. Hence f can depend on the sample, and, if `rescale`, so can s, since s·f and f have the same signs.
/// `empirical(s)` is L_S of s·f. [docs/theory/bounds.md]
[[nodiscard]] UniformBound uniform_bound(const FunctionSize& size, const std::function<double(double)>& empirical,
                                         bool rescale, const BoundSetting& setting);

}  // namespace widelimit
