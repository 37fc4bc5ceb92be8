#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/parameters.hpp"

#include <span>

namespace widelimit {

/// Error{usage} names the first layer that intervals cannot pass, and what to do: attention, and activations without a
/// known range (polynomial, hermite, a user's own).
void require_bounds(const std::vector<Stage>& stages);

/// Interval bound propagation: the enclosure of what enters `stages` becomes that of what leaves them. Dropout is off,
/// as in prediction. Stages are of `architecture`, whose weights are given in either precision; all arithmetic is in
/// float64.  Twice the cost of a forward pass.                         [docs/theory/certificates.md#finite-networks]
void enclose_stages(const Architecture& architecture, const AnyParameters& parameters, std::span<const Stage> stages,
                    Enclosure& values, const Engine& engine);

}  // namespace widelimit
