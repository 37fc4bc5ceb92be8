#pragma once

#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/convex/entry_slopes.hpp"

#include <functional>
#include <span>

namespace widelimit {

/// f and ∇f of functionals at any x:
///   f = Σ βᵢ Θ(x,xᵢ) + b,   ∇f = Σ βᵢ acrossᵢ·xᵢ + (Σ βᵢ alongᵢ)·x,   entries and their slopes by a rule.
class FunctionalGradient {
 public:
  /// Borrows support and functionals. Weights are those of entries as the rule gives them; f is in the units of these.
  FunctionalGradient(MatrixView<const double> support, std::span<const Functional> functionals,
                     const std::function<FunctionalWeights(const Functional&)>& weights, EntryRule rule);

  /// Row k of `x` by functional which[k]. Two matrix products; for one thread.
  void evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                MatrixView<double> gradients) const;

 private:
  MatrixView<const double> support_;
  std::span<const Functional> functionals_;
  EntryRule rule_;
  ByOutputs<FunctionalWeights> weights_;
};

}  // namespace widelimit
