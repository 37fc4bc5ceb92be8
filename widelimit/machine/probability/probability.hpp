#pragma once

#include "widelimit/machine/machine.hpp"

#include <span>

namespace widelimit {

/// Probabilities of the classes −1 and 1, two columns, of the decisions g of a logistic machine: 1/(1 + e^{±g}).
[[nodiscard]] Matrix<double> logistic_probabilities(const Matrix<double>& decisions);

/// e^{g_c}/Σ e^{g_d} for each row of the decisions of a softmax machine.
[[nodiscard]] Matrix<double> softmax_probabilities(const Matrix<double>& decisions);

/// Probability of each class, rows × classes: of a logistic machine by the two above; of a support vector machine by
/// the sigmoid of each output, pairs coupled, classes against the rest divided by their sum (Zadrozny and Elkan 2002).
/// The most probable class may differ from that of classes_of. Error{usage} where a machine has none.
[[nodiscard]] Matrix<double> class_probabilities(Machine machine, Scheme scheme, Index classes,
                                                 std::span<const Sigmoid> calibration, const Matrix<double>& decisions);

/// Whether class_probabilities has an answer.
[[nodiscard]] inline bool has_probabilities(Machine machine, std::span<const Sigmoid> calibration) {
  return machine == Machine::logistic || !calibration.empty();
}

}  // namespace widelimit
