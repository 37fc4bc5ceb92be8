#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::cpu {

/// Nodes z_q with two functions on them, for sums over Hermite functions ψ_k(z) = h_k(z)·√density(z).
struct HermiteNodes {
  Index count = 0;  ///< a multiple of 16
  const double* z = nullptr;
  const double* even = nullptr;  ///< summed with ψ_k of even k
  const double* odd = nullptr;   ///< with ψ_k of odd k
};

/// ψ_k and ψ_{k+1} at all nodes: where the recursion stands.
struct HermiteState {
  int k = 0;
  double* current = nullptr;
  double* next = nullptr;
};

/// sums[i] = Σ_q f_q ψ_{k+i}(z_q) for i < count, f even or odd as k + i is; `more`, where its count is not 0, is summed
/// into more_sums alike. Moves the state on by `count`: ψ_{k+1} = (z ψ_k − √k ψ_{k−1})/√(k+1).
void hermite_sums(const HermiteNodes& nodes, const HermiteNodes& more, int count, HermiteState& state, double* sums,
                  double* more_sums);

}  // namespace widelimit::cpu
