#pragma once

#include "widelimit/finite/training/loss.hpp"
#include "widelimit/machine/machine.hpp"

namespace widelimit {

/// How the outputs that a loss trained on class_targets (finite/training/targets.hpp) become classes again.
[[nodiscard]] Scheme loss_scheme(LossKind loss, Index classes);

}  // namespace widelimit
