#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// EQ §4.1 and NT-L's bounds on two digits of MNIST, true labels against random ones, beside the test error.
[[nodiscard]] Experiment generalisation_bounds();

}  // namespace widelimit::experiment
