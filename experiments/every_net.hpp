#pragma once

#include "experiments/experiment.hpp"

namespace widelimit::experiment {

/// EQ Theorem 4.1 on MNIST 0 and 1: the difference between a trained network and its kernel machine by the size of the
/// steps, over one time; EQ states equality for the flow.
[[nodiscard]] Experiment every_net_is_a_kernel_machine();

}  // namespace widelimit::experiment
