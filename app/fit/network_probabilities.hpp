#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/training/loss.hpp"

namespace widelimit::app {

/// Probabilities of classes from the outputs of a network that was trained by their likelihood: with the softmax loss,
/// or of two classes with the logistic one. Else nothing.
[[nodiscard]] Matrix<double> network_probabilities(LossKind loss, const Matrix<double>& outputs);

/// The same of a network from a file, whose settings have the loss.
[[nodiscard]] Matrix<double> network_probabilities(const NetworkNotes& notes, const Matrix<double>& outputs);

}  // namespace widelimit::app
