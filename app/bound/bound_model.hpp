#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/model.hpp"

namespace widelimit::app {

/// The kernel of a model, asked for again.
[[nodiscard]] KernelRequest request_of(const Model& model);

/// The fit that a model was made of: its coefficients at the places of their samples in `train`, which is scaled
/// already, 0 elsewhere. Error{input} names a sample of the model that `train` does not have.  O(n·d).
[[nodiscard]] Trained fit_of(const Model& model, const Dataset& train);

}  // namespace widelimit::app
