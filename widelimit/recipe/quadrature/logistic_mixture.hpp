#pragma once

#include "widelimit/recipe/dual.hpp"

#include <vector>

namespace widelimit {

/// The logistic function as a mixture of normal distributions: 1/(1+e^{−x}) = ∫ Φ(x/σ) p(σ) dσ, σ = 2K with K of
/// Kolmogorov's distribution (Stefanski 1991). With the same weights
///   tanh x     = Σ_j w_j·erf(√2·x/σ_j),            sigmoid x = Σ_j w_j·Φ(x/σ_j),
///   swish x    = Σ_j w_j·x·Φ(x/σ_j),               softplus x = Σ_j w_j·E[relu(x + σ_j·z)],
/// so that the duals are double sums of those of erf, gelu and relu, for any variance and correlation. The trapezoidal
/// rule in log σ converges like e^{−π²/2h}: for h = 0.12, the 27 terms approximate the functions to 2·10⁻¹⁶ everywhere,
/// and their derivatives to 4·10⁻¹⁶.
struct MixtureTerm {
  double deviation = 0.0;  ///< σ_j
  double weight = 0.0;     ///< w_j; they sum to 1
};
[[nodiscard]] const std::vector<MixtureTerm>& logistic_mixture();

/// True for tanh, sigmoid, swish and softplus.
[[nodiscard]] bool is_logistic(Phi phi);

}  // namespace widelimit
