#pragma once

#include "widelimit/machine/machine.hpp"

#include <span>

namespace widelimit {

/// Returns the probabilities of the classes −1 and 1, two columns, from decisions g of a logistic machine:
/// 1/(1 + e^{±g}).
[[nodiscard]] Matrix<double> logistic_probabilities(const Matrix<double>& decisions);

/// Returns e^{g_c}/Σ e^{g_d} for each row of the decisions of a softmax machine.
[[nodiscard]] Matrix<double> softmax_probabilities(const Matrix<double>& decisions);

/// Returns class probabilities, rows × classes: for a logistic machine by the functions above; for an SVM from the
/// sigmoid of each output, with pairwise coupling for pairs, and normalisation for one-vs-rest (Zadrozny and Elkan
/// 2002). The most probable class may differ from that of classes_of. Throws Error{usage} if the machine has no
/// probabilities.
[[nodiscard]] Matrix<double> class_probabilities(Machine machine, Scheme scheme, Index classes,
                                                 std::span<const Sigmoid> calibration, const Matrix<double>& decisions);

/// Whether class_probabilities is defined for the machine.
[[nodiscard]] inline bool has_probabilities(Machine machine, std::span<const Sigmoid> calibration) {
  return machine == Machine::logistic || !calibration.empty();
}

}  // namespace widelimit
