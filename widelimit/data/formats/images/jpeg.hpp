#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <cstdint>
#include <vector>

namespace widelimit {

/// Rows of red, green, blue bytes.
struct Image {
  Index height = 0;
  Index width = 0;
  std::vector<std::uint8_t> rgb;
  bool grey = false;  ///< the source has no colours: the three are equal
};

/// Decodes a JPEG as RGB. Error{input} where it is damaged, incomplete or has more than `most_pixels`, Error{resource}
/// where its size exceeds `limits`; both before memory is taken for it.
[[nodiscard]] Image decode_jpeg(Bytes bytes, const std::string& source, Index most_pixels = Index{1} << 24,
                                const ReadLimits& limits = {});

}  // namespace widelimit
