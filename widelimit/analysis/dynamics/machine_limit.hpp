#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

namespace widelimit {

/// The machine of EQ Table 1 that training with this loss and λ > 0 ends at, fitted by its own solver; several outputs
/// of a loss of labels one by one. Nothing where λ = 0, where an output has labels of one class only, which the solvers
/// refuse, or where a fit did not converge. `tolerance` is the relative duality gap to reach. K is positive
/// semi-definite, by who calls.
[[nodiscard]] std::optional<Fit> machine_limit(const GramMatrix& k, const DynamicsInput& input, double tolerance,
                                               Progress* progress);

}  // namespace widelimit
