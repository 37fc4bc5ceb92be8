#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// EQ Figures 1 and A.1: outputs and hinge loss of networks and the SVM while they are trained on MNIST 0 and 1.
[[nodiscard]] Experiment equivalence_figure();

}  // namespace widelimit::experiment
