#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Pixels from the top left, row after row, the channels of a pixel together.
struct Picture {
  Index height = 0;
  Index width = 0;
  Index channels = 0;         ///< 1: grey, 3: red, green, blue
  std::vector<float> values;  ///< 0 to 255; fractions where the source has 16 bits
  bool transparent = false;   ///< it had an alpha channel or a transparent colour, which were dropped
};

/// Decodes a PNG; palettes become colours. Error{input} where it is damaged, incomplete or has more than `most_pixels`,
/// Error{resource} where its size exceeds `limits`; both before memory is taken for it.
[[nodiscard]] Picture decode_png(Bytes bytes, const std::string& source, Index most_pixels = Index{1} << 24,
                                 const ReadLimits& limits = {});

}  // namespace widelimit
