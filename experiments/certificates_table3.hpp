#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// EQ Table 3: certified ℓ∞ radii of kernel regression, ridge and SVM on MNIST 0 and 1, the published ones beside those
/// of every method and beside an attack.
[[nodiscard]] Experiment certificates_table3();

}  // namespace widelimit::experiment
