#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// Networks trained on partly wrong labels, regularised by the distance to initialisation (RDI) or by an
/// auxiliary variable a sample (AUX), beside their common limit of infinite width, k(x,X)(H + λI)⁻¹ỹ.
[[nodiscard]] Experiment noisy_labels_rdi_aux();

}  // namespace widelimit::experiment
