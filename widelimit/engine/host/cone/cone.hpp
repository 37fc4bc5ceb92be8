#pragma once

#include "widelimit/base/types.hpp"

#include <span>

/// Kernels of chains without bias, Θ(x,x') = const·‖x‖‖x'‖·κ(u), as functions of u = cos(x,x').
/// [docs/theory/certificates.md#kernels-without-bias]
namespace widelimit::host {

/// A rectifier and the dense layers after it, relative to the deviations: ρ ← linear·ρ + bend·κ₁(ρ),
/// θ ← θ·(linear + bend·κ₀(ρ)) + trained·ρ_new, with linear + bend = 1.
struct ConeLayer {
  double linear = 0;
  double bend = 1;
  double trained = 1;  ///< weight layers up to the next rectifier
};

struct ConeChain {
  std::span<const ConeLayer> layers;
  double trained = 1;   ///< weight layers before the first rectifier
  bool tangent = true;  ///< κ is θ (NTK); else ρ (NNGP)
};

/// Where 1 − |ρ| is smaller, derivatives are taken as if it were this: they are infinite at ±1.
inline constexpr double least_rest = 0x1p-106;

/// κ(u) and, where the pointers are not null, κ'(u), κ''(u) (which needs κ' too) for `count` values of u in [−1, 1].
/// rest[k] = 1 − |u[k]| with its own digits, or null: taken from u.  O(count·layers), vectorised.
struct ConeArrays {
  const double* u = nullptr;
  const double* rest = nullptr;
  double* value = nullptr;
  double* slope = nullptr;
  double* curvature = nullptr;
};
void evaluate_cone(const ConeChain& chain, Index count, const ConeArrays& arrays);

}  // namespace widelimit::host
