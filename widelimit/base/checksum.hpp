#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace widelimit {

/// Returns a 64-bit, non-cryptographic checksum that detects accidental changes of stored data. `seed` chains calls:
/// checksum(b, checksum(a)) depends on both and on their order. O(bytes), several GB/s.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace widelimit
