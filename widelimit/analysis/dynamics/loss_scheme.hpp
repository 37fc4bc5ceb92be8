#pragma once

#include "widelimit/finite/training/loss.hpp"
#include "widelimit/machine/machine.hpp"

namespace widelimit {

/// Returns the scheme that maps outputs, trained with this loss on class_targets (finite/training/targets.hpp), to
/// classes.
[[nodiscard]] Scheme loss_scheme(LossKind loss, Index classes);

}  // namespace widelimit
