#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
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

/// Loads a possibly unaligned number in the byte order `order`.
template <typename T>
[[nodiscard]] T load_scalar(const std::byte* from, std::endian order) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace widelimit
