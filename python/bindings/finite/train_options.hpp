#pragma once

#include "widelimit/finite/training/train.hpp"

#include <nanobind/nanobind.h>

namespace widelimit::python {

/// How to train, as Python gives it: by name; what is not there, or None, keeps the library's default.
[[nodiscard]] TrainOptions train_options(const nanobind::dict& given);

}  // namespace widelimit::python
