#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/network/activation.hpp"

namespace widelimit {

/// Returns whether the range of φ on an interval is known: false for polynomial, hermite and custom activations.
[[nodiscard]] bool has_range(Phi phi);

/// Returns the range of φ on [low, high], rounded outwards. [widelimit/engine/enclosure/activation_range.hpp]
[[nodiscard]] Interval activation_range(const Activation& activation, const Interval& x);

/// Applies φ to every value of an enclosure, in place.
void enclose_activation(const Activation& activation, Enclosure& values, const Engine& engine);

}  // namespace widelimit
