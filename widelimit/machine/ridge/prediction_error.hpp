#pragma once

#include "widelimit/base/matrix.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// Returns Σ wᵢ ‖yᵢ − pᵢ‖²/Σ wᵢ; all weights are 1 if `weights` is empty.
[[nodiscard]] double mean_squared_error(MatrixView<const double> targets, MatrixView<const double> predictions,
                                        std::span<const double> weights);

/// Returns the weighted error rate: by the sign if targets are one column of ±1 (a prediction of 0 is an error), by the
/// largest output if every target row has one high value and otherwise low ones, the same two values in all rows.
/// Returns std::nullopt for other targets.
[[nodiscard]] std::optional<double> misclassified(MatrixView<const double> targets,
                                                  MatrixView<const double> predictions,
                                                  std::span<const double> weights);

}  // namespace widelimit
