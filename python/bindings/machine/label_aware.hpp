#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <nanobind/nanobind.h>

namespace widelimit::python {

/// Options by name: method, target, ratio, psd, distortion, seed.
[[nodiscard]] LabelAwareOptions label_aware_options(const nanobind::dict& given);
[[nodiscard]] LabelAware copy_of(const LabelAware& aware);

}  // namespace widelimit::python
