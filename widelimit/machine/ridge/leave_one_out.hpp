#pragma once

#include "widelimit/base/matrix.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// Σ wᵢ ‖yᵢ − pᵢ‖²/Σ wᵢ, weights 1 where there are none.
[[nodiscard]] double mean_squared_error(MatrixView<const double> targets, MatrixView<const double> predictions,
                                        std::span<const double> weights);

/// Share of weight whose class is missed: by the sign where targets are one column of ±1 (0 misses), by the largest
/// output where every row of them holds one high value among low ones, two values in all; nothing for other targets.
[[nodiscard]] std::optional<double> misclassified(MatrixView<const double> targets,
                                                  MatrixView<const double> predictions,
                                                  std::span<const double> weights);

}  // namespace widelimit
