#pragma once

#include "widelimit/report/table.hpp"

namespace widelimit::app {

/// The words a network may be written with.
[[nodiscard]] Table preset_table();
[[nodiscard]] Table layer_table();

}  // namespace widelimit::app
