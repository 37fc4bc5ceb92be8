#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram.hpp"

namespace widelimit {

/// Shapes agree and every value is a finite number: what a kernel can be asked of. Error{input} names the sample.
void check_samples(const SampleView& x);
void check_same_shape(const SampleView& x1, const SampleView& x2);

/// What a recipe must write for a kind.
[[nodiscard]] RecipeOutputs recipe_outputs(Kind kind);

}  // namespace widelimit
