#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"

#include <memory>

namespace widelimit::test {

/// Sums of certificates on the host, with the same entries and the same binary trees as on a device.
[[nodiscard]] std::unique_ptr<cuda::ConeDevice> make_host_cones();

}  // namespace widelimit::test
