#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// Returns the targets of classes 0 … classes − 1, one row per sample. Two classes: one output, −1 for the first and 1
/// for the second. More: one output per class, 1 for the sample's class, otherwise −1 for margin losses and 0 for the
/// others. Softmax: one-hot rows. Throws Error{input} for a label outside the classes, or fewer than two classes.
[[nodiscard]] Matrix<double> class_targets(std::span<const Index> labels, Index classes, const Loss& loss);

/// Throws Error{input} if targets do not fit the loss: margin losses need ±1, softmax one-hot rows; all must be finite.
void require_targets(MatrixView<const double> targets, const Loss& loss);

/// Returns the accuracy, with classes predicted by the sign of one output or the largest of several. std::nullopt if
/// the targets do not represent classes.
[[nodiscard]] std::optional<double> accuracy_of(MatrixView<const double> outputs, MatrixView<const double> targets);

}  // namespace widelimit
