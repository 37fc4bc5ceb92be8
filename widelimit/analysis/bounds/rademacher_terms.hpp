#pragma once

#include "widelimit/base/types.hpp"

#include <functional>

namespace widelimit {

/// The three terms of a bound on the expected loss L_D from the mean loss L_S of a sample.    [docs/theory/bounds.md]
struct BoundTerms {
  double empirical = 0;   ///< L_S
  double complexity = 0;  ///< 2ρ times the empirical Rademacher complexity
  double confidence = 0;  ///< 3c√(log(2/δ)/(2n))

  [[nodiscard]] double value() const { return empirical + complexity + confidence; }
};

/// What the complexity of functions ⟨β, Φ(x)⟩ + b on a sample is made of: at most f·(B√(tr K) + |b|√n)/n.
struct FunctionSize {
  Index samples = 0;   ///< n
  double norm = 0;     ///< B = ‖β‖, of all outputs together
  double offset = 0;   ///< |b|, of all outputs together; 0: none was fitted
  double trace = 0;    ///< Σ K(xᵢ, xᵢ)
  double outputs = 1;  ///< f: 1 for one output; what contraction from several outputs to one loss costs
};

/// A bounded loss as the bounds see it, and how sure one wants to be.
struct BoundSetting {
  double lipschitz = 1;  ///< ρ
  double range = 1;      ///< c
  double delta = 0.05;   ///< the bound may fail on a share δ of all samples

  /// Error{input} unless 0 < δ < 1.
  void validate() const;
};

/// EQ's bound, L_S + 2ρB√(tr K)/n + 3c√(log(2/δ)/(2n)): true of all functions of norm at most B, B chosen before the
/// sample is seen. Error{input} for n = 0.
[[nodiscard]] BoundTerms fixed_norm_bound(const FunctionSize& size, double empirical, const BoundSetting& setting);

/// The same for all norms at once.
struct UniformBound {
  BoundTerms terms;
  double scale = 1;   ///< s: the loss in it is that of s·f
  double radius = 0;  ///< Γ = 2ᵏ: s·f has a norm of at most this
  double share = 1;   ///< of δ that this Γ got
};

/// With probability 1 − δ the bound holds for all k at once, for functions of norm at most 2ᵏ with wₖδ in place of δ,
/// wₖ = 2/(3(|k|+1)(|k|+2)), which sum to 1 over all whole k; with an offset, |b| ≤ 2ʲ, for all pairs with wₖwⱼδ. So
/// f may be chosen after all of them are known, and, where `rescale`, so may s: s·f errs where f does.
/// `empirical(s)` is L_S of s·f. The least of the bounds found.                            [docs/theory/bounds.md]
[[nodiscard]] UniformBound uniform_bound(const FunctionSize& size, const std::function<double(double)>& empirical,
                                         bool rescale, const BoundSetting& setting);

}  // namespace widelimit
