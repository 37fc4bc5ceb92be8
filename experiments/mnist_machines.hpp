#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// Test accuracy of the seven machines of EQ Table 1 on MNIST 0 and 1, beside EQ Table 3 (and the 99.95 % of Table 2),
/// and of ridge and SVM on all ten digits, for which EQ has no figure.
[[nodiscard]] Experiment mnist_machines();

}  // namespace widelimit::experiment
