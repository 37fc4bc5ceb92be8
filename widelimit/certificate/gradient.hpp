#pragma once

#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/ranges.hpp"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace widelimit {

/// f and ∇f of functionals at any x:
///   f = scale·N·Σ wᵢ κ(uᵢ) + b,   ∇f = scale·(Σ wᵢ κ'(uᵢ) x̂ᵢ + Σ wᵢ (κ − uᵢκ')(uᵢ)·x/N),   w = β‖xᵢ‖, x̂ᵢ = xᵢ/‖xᵢ‖.
/// At x parallel to xᵢ, where κ' is infinite, it is cut off: both terms of sample i cancel there.
class FunctionalGradient {
 public:
  FunctionalGradient(const CertificateProblem& problem, MatrixView<const double> directions,
                     std::span<const double> norms);

  /// Row k of `x` by functional which[k]. Two matrix products; for one thread.
  void evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                MatrixView<double> gradients) const;

 private:
  const CertificateProblem& problem_;
  MatrixView<const double> directions_;
  std::map<std::pair<Index, Index>, FunctionalWeights> weights_;  ///< by outputs, β‖xᵢ‖ for β
};

}  // namespace widelimit
