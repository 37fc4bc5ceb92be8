#pragma once

#include "widelimit/finite/forward.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// Which units with a kink at 0 (relu, leaky_relu, abs, rectified monomials) are open, that is, have a positive input,
/// for each sample of a pass; no entries where the network has none.
[[nodiscard]] std::vector<bool> open_gates(const Architecture& architecture, const Trace<float>& trace);
[[nodiscard]] std::vector<bool> open_gates(const Architecture& architecture, const Trace<double>& trace);

/// Share of gates that differ; nothing where there are none.
[[nodiscard]] std::optional<double> share_changed(const std::vector<bool>& before, const std::vector<bool>& after);

}  // namespace widelimit
