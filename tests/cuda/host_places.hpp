#pragma once

#include "widelimit/engine/cuda/place/place_device.hpp"

#include <memory>

namespace widelimit::test {

/// Pairs of places on the CPU; states of up to `team_bytes` are processed by a team.
[[nodiscard]] std::unique_ptr<cuda::PlaceDevice> make_host_places(std::int64_t team_bytes);

}  // namespace widelimit::test
