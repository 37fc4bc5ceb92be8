#pragma once

#include "widelimit/finite/loss.hpp"
#include "widelimit/machine/machine.hpp"

#include <span>

namespace widelimit {

/// Targets that a loss learns classes by: labels 0 … classes − 1 as one column of ±1 where there are two, the second
/// being 1, but for softmax; else a column for each class, ±1 for hinge, squared hinge and logistic (one against the
/// rest), 0 and 1 for the others. Error{input} for labels out of range.
[[nodiscard]] Matrix<double> loss_targets(LossKind loss, std::span<const Index> labels, Index classes);

/// How outputs trained so become classes again.
[[nodiscard]] Scheme loss_scheme(LossKind loss, Index classes);

}  // namespace widelimit
