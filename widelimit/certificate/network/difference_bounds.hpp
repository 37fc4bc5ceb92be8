#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/parameters.hpp"

#include <span>

namespace widelimit {

/// Enclosures of a network, of the same network at its initial weights, and of their difference. The difference is
/// enclosed separately: both networks have the same input x, and variations of x common to both intervals cancel in it.
struct EnclosedPair {
  Enclosure trained;
  Enclosure start;
  Enclosure difference;
};

/// Returns the enclosure of z − z₀ = w_scale·(a(W − W₀) + (a − a₀)W₀) + b_scale·(b − b₀), the output difference of a
/// dense or conv stage; `pair` holds the inputs of its matrix.
template <std::floating_point T>
[[nodiscard]] Enclosure enclose_affine_difference(const WeightSlot& slot, const Weights<T>& trained,
                                                  const Weights<T>& start, const EnclosedPair& pair,
                                                  const Engine& engine);

/// Propagates all three enclosures through `stages`. An activation maps a difference d to s·d with s in the range of φ'
/// (a relu whose two intervals have one sign passes or drops it). Otherwise the two intervals are subtracted; no
/// difference is wider than that.
void enclose_difference(const Architecture& architecture, const AnyParameters& trained, const AnyParameters& start,
                        std::span<const Stage> stages, const Engine& engine, EnclosedPair& pair);

}  // namespace widelimit
