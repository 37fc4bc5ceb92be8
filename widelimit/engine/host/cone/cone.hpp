#pragma once

#include "widelimit/base/types.hpp"

#include <span>

/// Kernels of chains without bias, Θ(x,x') = const·‖x‖‖x'‖·κ(u), as functions of u = cos(x,x').
/// [docs/theory/certificates.md#kernels-without-bias]
namespace widelimit::host {

/// A rectifier and the dense layers after it, relative to the standard deviations: ρ ← linear·ρ + bend·κ₁(ρ), θ ←
/// θ·(linear + bend·κ₀(ρ)) + trained·ρ_new, with linear + bend = 1.
struct ConeLayer {
  double linear = 0;
  double bend = 1;
  double trained = 1;  ///< number of weight layers up to the next rectifier
};

struct ConeChain {
  std::span<const ConeLayer> layers;
  double trained = 1;   ///< number of weight layers before the first rectifier
  bool tangent = true;  ///< κ is θ (NTK); else ρ (NNGP)
};

/// Lower clamp of 1 − |ρ| in derivatives, which are infinite at ±1.
inline constexpr double least_rest = 0x1p-106;

/// Computes κ(u) and, if the pointers are not null, κ'(u) and κ''(u) (which requires κ') for `count` values of u in
/// [−1, 1]. rest[k] is an accurate 1 − |u[k]|; if null, it is computed from u.  O(count·layers), vectorised.
struct ConeArrays {
  const double* u = nullptr;
  const double* rest = nullptr;
  double* value = nullptr;
  double* slope = nullptr;
  double* curvature = nullptr;
};
void evaluate_cone(const ConeChain& chain, Index count, const ConeArrays& arrays);

}  // namespace widelimit::host
