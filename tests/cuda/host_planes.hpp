#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"

#include <memory>

namespace widelimit::test {

/// Planes on the host: the same steps as on a device, run sequentially; without register stacks.
[[nodiscard]] std::unique_ptr<cuda::PlaneDevice> make_host_planes();

}  // namespace widelimit::test
