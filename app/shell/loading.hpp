#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"

namespace widelimit::app {

/// Loads training and test set within --memory, with a progress bar and splits drawn by --seed. Prints notes on the
/// data. Throws Error{interrupted} after a signal.
[[nodiscard]] TrainTest load_request(const CommonOptions& common, DataRequest request);

}  // namespace widelimit::app
