#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit {

/// Probabilities of the classes −1 and 1, two columns, of the decisions g of a logistic machine: 1/(1 + e^{±g}).
[[nodiscard]] Matrix<double> logistic_probabilities(const Matrix<double>& decisions);

/// e^{g_c}/Σ e^{g_d} for each row of the decisions of a softmax machine.
[[nodiscard]] Matrix<double> softmax_probabilities(const Matrix<double>& decisions);

}  // namespace widelimit
