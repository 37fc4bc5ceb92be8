#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// What a network or machine is to give for classes 0 … classes − 1, one row a sample. Two classes: one output, −1 for
/// the first and 1 for the second. More: an output for each class, 1 where it is the sample's own, elsewhere −1 for the
/// losses of margins and 0 for the others. Softmax: an output for each class, 0 and 1.
/// Error{input} for a label that is no class, or fewer than two classes.
[[nodiscard]] Matrix<double> class_targets(std::span<const Index> labels, Index classes, const Loss& loss);

/// Error{input} where targets do not fit the loss: a margin needs ±1, softmax one 1 among zeros in every row; all must
/// be finite.
void require_targets(MatrixView<const double> targets, const Loss& loss);

/// Accuracy: classes are predicted by the sign of one output or the largest of several. Nothing where the
/// targets are numbers that mean no class.
[[nodiscard]] std::optional<double> told_right(MatrixView<const double> outputs, MatrixView<const double> targets);

}  // namespace widelimit
