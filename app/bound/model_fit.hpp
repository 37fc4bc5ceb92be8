#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/model.hpp"

namespace widelimit::app {

/// Returns the fit behind a model: its coefficients at the indices of their samples in `train`, which is already
/// scaled, and 0 elsewhere. Throws Error{input} if `train` lacks a sample of the model. Costs O(n·d).
[[nodiscard]] FittedMachine fit_of(const Model& model, const Dataset& train);

}  // namespace widelimit::app
