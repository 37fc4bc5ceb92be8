#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/network/activation.hpp"

namespace widelimit {

/// Whether the range of φ on an interval is known: all but polynomial, hermite and a user's own.
[[nodiscard]] bool has_range(Phi phi);

/// The range of φ on [low, high], outwards: the ends where φ is monotone, with the extremum between them where it has
/// one (abs, even powers, gaussian, gelu, swish), or those of a wave (sin, cos, rbf). The mathematical library is taken
/// to err by at most 8 units in the last place.
[[nodiscard]] Interval activation_range(const Activation& activation, Interval x);

/// Every value of an enclosure through φ, in place.
void enclose_activation(const Activation& activation, Enclosure& values, const Engine& engine);

}  // namespace widelimit
