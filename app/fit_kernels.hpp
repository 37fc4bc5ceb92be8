#pragma once

#include "app/fit_options.hpp"

#include "widelimit/data/request.hpp"

#include <optional>

namespace widelimit::app {

/// Kernels of the training samples, and of the test samples with them.
struct Kernels {
  AnyMatrix train;
  std::optional<AnyMatrix> test;
  double seconds = 0;
};

/// From --gram, or computed. Error{input} where the file is of another network or of other data.
[[nodiscard]] Kernels fit_kernels(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                                  const Backend& backend);

}  // namespace widelimit::app
