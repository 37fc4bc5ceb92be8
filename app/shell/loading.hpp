#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"

namespace widelimit::app {

/// The samples of a request, within --memory, with a bar, and until a signal asks to stop. Splits are drawn by --seed.
/// Notes on the samples go to standard error.
[[nodiscard]] TrainTest load_within(const CommonOptions& common, DataRequest request);

}  // namespace widelimit::app
