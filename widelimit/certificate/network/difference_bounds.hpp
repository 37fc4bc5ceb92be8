#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/parameters.hpp"

#include <span>

namespace widelimit {

/// A network, the same network at other weights, and what the first has more than the second, value by value: the
/// difference is enclosed by itself, since both networks see one x and the parts of their intervals that x moves alike
/// cancel in it.
struct EnclosedPair {
  Enclosure trained;
  Enclosure start;
  Enclosure difference;
};

/// z − z₀ = w_scale·(a(W − W₀) + (a − a₀)W₀) + b_scale·(b − b₀): the difference that leaves a dense or conv stage,
/// where `pair` holds what its matrix multiplies.
template <std::floating_point T>
[[nodiscard]] Enclosure enclose_affine_difference(const WeightSlot& slot, const Weights<T>& trained,
                                                  const Weights<T>& start, const EnclosedPair& pair,
                                                  const Engine& engine);

/// All three through `stages`. Activations take a difference d to s·d with s in the range of φ' (a relu whose two
/// intervals have one sign passes or drops it); where nothing better is known the two intervals are subtracted, and no
/// difference is ever wider than that.
void enclose_difference(const Architecture& architecture, const AnyParameters& trained, const AnyParameters& start,
                        std::span<const Stage> stages, const Engine& engine, EnclosedPair& pair);

}  // namespace widelimit
