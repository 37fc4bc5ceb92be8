#pragma once

#include "widelimit/report/drawing/figures.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// A picture as PNG (RFC 2083), not compressed, since those of a page are small: `pixels` row by row, one byte each for
/// grey, three for red, green and blue. Error{usage} for other sizes.  O(pixels).
[[nodiscard]] std::string png(std::span<const std::uint8_t> pixels, int width, int height, int channels);

/// Bytes as text (RFC 4648), for addresses of the form data:image/png;base64,…
[[nodiscard]] std::string base64(std::string_view bytes);

/// How samples of a shape are looked at: images of one or three channels as they are, vectors whose length is a square
/// (at least 2×2) as squares; nothing for others and for images of more than 512 positions along an edge.
[[nodiscard]] std::optional<Shape> picture_shape(const Shape& sample);

/// One sample, and what became of it: pictures side by side above one line of words.
struct Pictured {
  std::string words = {};
  std::vector<std::vector<double>> pictures = {};  ///< each shape.size() numbers
};

/// Pictures in rows of a few samples, `low` black and `high` white. Error{usage} where a picture has another size.
[[nodiscard]] Figure picture_sheet(std::span<const Pictured> samples, const Shape& shape, double low, double high,
                                   const std::string& title);

}  // namespace widelimit
