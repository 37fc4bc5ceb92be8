#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace widelimit {

/// 64-bit checksum that detects accidental changes of data on disk; not cryptographic. `seed` chains: checksum(b,
/// checksum(a)) depends on both and on their order.  O(bytes), some gigabytes a second.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace widelimit
