#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// Rows of red, green, blue bytes.
struct Image {
  Index height = 0;
  Index width = 0;
  std::vector<std::uint8_t> rgb;
};

/// Decodes a JPEG as RGB. Error{input} where it is damaged, incomplete or has more than `most_pixels`.
[[nodiscard]] Image decode_jpeg(Bytes bytes, const std::string& source, Index most_pixels = Index{1} << 24);

}  // namespace widelimit
