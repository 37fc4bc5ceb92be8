#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// EQ Theorem 3.5: the difference of network and machine by width, for each regulariser and loss, and by λ.
[[nodiscard]] Experiment width_scaling();

}  // namespace widelimit::experiment
