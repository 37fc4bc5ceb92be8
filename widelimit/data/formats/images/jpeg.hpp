#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// Decoded image: rows of red, green, blue bytes.
struct Image {
  Index height = 0;
  Index width = 0;
  std::vector<std::uint8_t> rgb;
  bool grey = false;  ///< the source is grey: all three channels are equal
};

/// Decodes a JPEG as RGB. Throws Error{input} if it is damaged, incomplete or has more than `most_pixels`,
/// Error{resource} if its size exceeds `limits`; the size is checked before memory is allocated.
[[nodiscard]] Image decode_jpeg(Bytes bytes, const std::string& source, Index most_pixels = Index{1} << 24,
                                const ReadLimits& limits = {});

}  // namespace widelimit
