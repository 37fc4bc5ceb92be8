#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>

namespace widelimit {

/// Returns class probabilities from the outputs of a network trained with the softmax loss or, for two classes, the
/// logistic loss; otherwise an empty matrix.
[[nodiscard]] Matrix<double> network_probabilities(LossKind loss, const Matrix<double>& outputs);

/// Same for a network from a file.
[[nodiscard]] Matrix<double> network_probabilities(const NetworkNotes& notes, const Matrix<double>& outputs);

/// Returns the training loss of a network from a file, if its settings contain it.
[[nodiscard]] std::optional<LossKind> trained_loss(const NetworkNotes& notes);

}  // namespace widelimit
