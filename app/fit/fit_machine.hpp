#pragma once

#include "app/fit/fit_options.hpp"

#include "widelimit/data/request.hpp"

#include <optional>
#include <vector>

namespace widelimit::app {

/// A machine, and what it says of the samples it was fitted to and of others.
struct Fitted {
  Trained trained;
  Matrix<double> train;                  ///< decisions
  std::optional<Matrix<double>> test;    ///< where there are test samples
  std::optional<double> kernel_seconds;  ///< where a Gram matrix was computed
  std::optional<double> likelihood;      ///< log p(y) of the Gaussian process, all outputs together, with --posterior
  std::vector<double> residuals;         ///< of conjugate gradients, after each iteration
};

/// On a Gram matrix, or, where it does not fit into memory or --solver says so, by products with its tiles.
[[nodiscard]] Fitted fitted_machine(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                                    const Engine& engine);

}  // namespace widelimit::app
