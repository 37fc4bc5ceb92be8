#pragma once

#include "widelimit/finite/forward.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// Returns for each sample of a forward pass and each unit with a kink at 0 (relu, leaky_relu, abs, rectified
/// monomials) whether its input is positive; empty if the network has no such units.
[[nodiscard]] std::vector<bool> open_gates(const Architecture& architecture, const Trace<float>& trace);
[[nodiscard]] std::vector<bool> open_gates(const Architecture& architecture, const Trace<double>& trace);

/// Returns the fraction of gates that differ; std::nullopt if there are none.
[[nodiscard]] std::optional<double> share_changed(const std::vector<bool>& before, const std::vector<bool>& after);

}  // namespace widelimit
