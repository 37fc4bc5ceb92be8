#pragma once

#include "widelimit/certificate/network/enclosure.hpp"

namespace widelimit {

/// y = (x − μ)/σ over the channels of each position, in place. With P x = x − μ: |(P(x − c))_k| ≤ r_k(1 − 1/C) +
/// Σ_{i≠k} r_i/C, and |σ(x) − σ(c)| ≤ ‖r‖₂/√C since ‖P‖ = 1; always |y| ≤ √(C − 1).
void enclose_layer_norm(Enclosure& values);

}  // namespace widelimit
