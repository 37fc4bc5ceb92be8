#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::cpu {

/// Nodes z_q with two functions on them, for sums with Hermite functions ψ_k(z) = h_k(z)·√density(z).
struct HermiteNodes {
  Index count = 0;  ///< a multiple of 16
  const double* z = nullptr;
  const double* even = nullptr;  ///< multiplies ψ_k of even k
  const double* odd = nullptr;   ///< multiplies ψ_k of odd k
};

/// ψ_k and ψ_{k+1} at all nodes: the state of the recurrence.
struct HermiteState {
  int k = 0;
  double* current = nullptr;
  double* next = nullptr;
};

/// sums[i] = Σ_q f_q ψ_{k+i}(z_q) for i < count, with f even or odd according to k + i; if more.count > 0, `more` is
/// summed into more_sums likewise. Advances the state by `count`: ψ_{k+1} = (z ψ_k − √k ψ_{k−1})/√(k+1).
void hermite_sums(const HermiteNodes& nodes, const HermiteNodes& more, int count, HermiteState& state, double* sums,
                  double* more_sums);

}  // namespace widelimit::cpu
