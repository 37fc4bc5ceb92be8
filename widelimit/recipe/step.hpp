#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/network/activation.hpp"
#include "widelimit/network/layer.hpp"

#include <cstdint>
#include <type_traits>

namespace widelimit {

/// Effect of a step on the state of a pair: the covariance Σ (NNGP), the tangent channels Θ_m, and the variances of
/// both samples.                                                                     [docs/theory/kernels.md]
enum class Op : std::uint8_t {
  affine,      ///< Σ ← w²Σ + b²;  Θ_m ← w²Θ_m + [m in channels] Σ
  window,      ///< mean over the filter window, the same shift applied to both positions
  dual,        ///< Σ ← E[φ(u)φ(v)];  Θ_m ← Θ_m·E[φ'(u)φ'(v)]
  pool,        ///< mean or sum over both position windows independently
  flatten,     ///< mean over equal positions
  layer_norm,  ///< Σ and Θ_m divided by the square roots of both variances
  dropout,     ///< variances divided by the keep rate
  aggregate,   ///< Σ(u,v) ← c_u c_v Σ(u',v') summed over u' ∈ N(u) ∪ {u}, v' ∈ N(v) ∪ {v}, Θ_m likewise
  readout,     ///< sum or mean over all pairs of nodes
  attend,      ///< Σ ← ζΣζ'ᵀ, Θ_m ← ζΘ_mζ'ᵀ, ζ = softmax of the sample's own Σ
  fork,        ///< push a copy of the state
  swap,        ///< exchange the two topmost states
  join,        ///< pop and add
  emit,        ///< write outputs
};

/// Description of φ for a back end. `first`, `count` denote a range of Recipe::constants (polynomial coefficients),
/// `function` an entry of Recipe::functions.
struct Dual {
  Phi phi = Phi::relu;
  double parameter = 0.0;  ///< leaky_relu: slope; rbf: gamma
  std::int32_t degree = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t function = -1;
};

/// Positions before or after a step.
struct Grid {
  std::int32_t height = 1;
  std::int32_t width = 1;
  bool nodes = false;  ///< one position per node of a graph; counted as one
  [[nodiscard]] Index positions() const { return Index{height} * width; }
  bool operator==(const Grid&) const = default;
};

/// Trivially copyable, so that a recipe can be sent to a device or a rank as bytes. `op` determines which fields are
/// used; the others keep their defaults.
struct Step {
  Op op = Op::affine;
  /// Whether the incoming state holds all pairs of positions (p, q), or only equal positions p = q.
  bool all_pairs = false;
  bool all_pairs_after = false;
  Grid before, after;

  double w2 = 1.0, b2 = 0.0;       ///< affine: variances of weights and bias
  std::int32_t channel_begin = 0;  ///< affine: tangent channels that train this layer, [begin, end)
  std::int32_t channel_end = 0;
  Dual dual;                    ///< dual
  Grid size, strides, offset;   ///< window, pool: extent, strides, padding before position 0
  bool circular = false;        ///< window, pool: positions wrap
  double scale = 1.0;           ///< window, pool: the sum over the window is multiplied by this
  bool mean = false;            ///< aggregate, readout: divide by the number of nodes in each sum
  double rate = 1.0;            ///< dropout
  std::int32_t nngp_slot = -1;  ///< emit: output that receives Σ, or −1
  std::int32_t ntk_slot = 0;    ///< emit: Θ_m goes to output ntk_slot + m for m < ntk_count
  std::int32_t ntk_count = 0;
};
static_assert(std::is_trivially_copyable_v<Step>);

}  // namespace widelimit
