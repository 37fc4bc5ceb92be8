#pragma once

#include "widelimit/finite/layers/pointwise.hpp"

#include <optional>

namespace widelimit {

/// How a network is run through.
struct PassOptions {
  std::optional<DropoutDraw> dropout = {};  ///< masks of training; without them dropout passes everything on
  int threads = 1;                          ///< the numbers do not depend on it
  bool input_signal = true;                 ///< backward: whether ∂f/∂x is wanted; a trainer does without
};

}  // namespace widelimit
