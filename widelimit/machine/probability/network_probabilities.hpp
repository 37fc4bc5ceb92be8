#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/training/loss.hpp"

#include <optional>

namespace widelimit {

/// Probabilities of classes from the outputs of a network that was trained by their likelihood: with the softmax loss,
/// or of two classes with the logistic one. Else nothing.
[[nodiscard]] Matrix<double> network_probabilities(LossKind loss, const Matrix<double>& outputs);

/// The same of a network from a file.
[[nodiscard]] Matrix<double> network_probabilities(const NetworkNotes& notes, const Matrix<double>& outputs);

/// The loss by which a network from a file was trained, where its settings have it.
[[nodiscard]] std::optional<LossKind> trained_loss(const NetworkNotes& notes);

}  // namespace widelimit
