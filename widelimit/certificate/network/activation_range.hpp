#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/network/activation.hpp"

namespace widelimit {

/// Whether the range of φ on an interval is known: all but polynomial, hermite and a user's own.
[[nodiscard]] bool has_range(Phi phi);

/// The range of φ on [low, high], outwards. [widelimit/engine/enclosure/activation_range.hpp]
[[nodiscard]] Interval activation_range(const Activation& activation, const Interval& x);

/// Every value of an enclosure through φ, in place.
void enclose_activation(const Activation& activation, Enclosure& values, const Engine& engine);

}  // namespace widelimit
