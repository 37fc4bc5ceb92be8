#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/machine.hpp"

namespace widelimit {

/// Fits the machine of EQ Table 1 that is the limit of training with this loss and λ > 0; several outputs of a
/// classification loss are fitted separately. Returns std::nullopt if λ = 0, if an output has labels of only one class,
/// or if a fit does not converge. `tolerance` is the relative duality gap. K must be positive semi-definite.
[[nodiscard]] std::optional<Fit> machine_limit(const GramMatrix& k, const DynamicsInput& input, double tolerance,
                                               Progress* progress);

/// Returns the scheme that maps outputs, trained with this loss on class_targets (finite/training/targets.hpp), to
/// classes.
[[nodiscard]] Scheme loss_scheme(LossKind loss, Index classes);

}  // namespace widelimit
