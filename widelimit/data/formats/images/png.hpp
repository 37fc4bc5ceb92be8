#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Decoded image: row-major from the top left, channels interleaved.
struct Picture {
  Index height = 0;
  Index width = 0;
  Index channels = 0;         ///< 1: grey, 3: red, green, blue
  std::vector<float> values;  ///< 0 to 255; fractional for 16-bit sources
  bool transparent = false;   ///< an alpha channel or a transparent colour was dropped
};

/// Decodes a PNG; palettes are converted to colours. Throws Error{input} if it is damaged, incomplete or has more than
/// `most_pixels`, Error{resource} if its size exceeds `limits`; the size is checked before memory is allocated.
[[nodiscard]] Picture decode_png(Bytes bytes, const std::string& source, Index most_pixels = Index{1} << 24,
                                 const ReadLimits& limits = {});

}  // namespace widelimit
