#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/network/activation.hpp"

#include <span>

namespace widelimit {

/// Returns whether the range of φ on an interval is known: false for polynomial, hermite and custom activations.
[[nodiscard]] bool has_range(Phi phi);

/// Throws Error{usage} for the first layer that interval propagation does not support (attention, and activations
/// without a known range: polynomial, hermite, custom); names the layer and the alternatives.
void require_bounds(const std::vector<Stage>& stages);

/// Interval bound propagation: replaces the enclosure of the input of `stages` by that of their output. Dropout is off,
/// as in prediction. Stages belong to `architecture`; weights may have either precision, all arithmetic is in float64.
/// Twice the cost of a forward pass. [docs/theory/certificates.md#finite-networks]
void enclose_stages(const Architecture& architecture, const AnyParameters& parameters, std::span<const Stage> stages,
                    Enclosure& values, const Engine& engine);

}  // namespace widelimit
