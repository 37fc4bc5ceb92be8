#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// EQ Table 2: certified radii of two-layer networks by interval bound propagation, which fall as the root of the
/// width, beside the machine they become.
[[nodiscard]] Experiment certificates_table2();

}  // namespace widelimit::experiment
