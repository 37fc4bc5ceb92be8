#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace widelimit {

/// 64 bits by which bytes that changed on their way to a disk and back are told from those that did not; no defence
/// against somebody who wants two texts to look alike. `seed` chains: checksum(b, checksum(a)) depends on both and
/// on their order.  O(bytes), some gigabytes a second.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace widelimit
