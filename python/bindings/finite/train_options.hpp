#pragma once

#include "widelimit/finite/training/train.hpp"

#include <nanobind/nanobind.h>

namespace widelimit::python {

/// Converts a dict of training options. An option that is missing or None keeps the default of the library.
[[nodiscard]] TrainOptions train_options(const nanobind::dict& given);

}  // namespace widelimit::python
