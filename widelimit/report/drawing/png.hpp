#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace widelimit {

/// A picture as PNG (RFC 2083), not compressed, since those of a page are small: `pixels` row by row, one byte each for
/// grey, three for red, green and blue. Error{usage} for other sizes.  O(pixels).
[[nodiscard]] std::string png(std::span<const std::uint8_t> pixels, int width, int height, int channels);

/// Bytes as text (RFC 4648), for addresses of the form data:image/png;base64,…
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace widelimit
