#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace widelimit {

/// Input of every parser: bytes in memory, so that fuzzing needs no files.
using Bytes = std::span<const std::byte>;
using Blob = std::vector<std::byte>;

[[nodiscard]] inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace widelimit
