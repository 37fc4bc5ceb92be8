#pragma once

#include "widelimit/report/drawing/figures.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Encodes an uncompressed PNG (RFC 2083) for small pictures. `pixels` is row-major, one byte per pixel for grey, three
/// for RGB. Throws Error{usage} if the sizes are inconsistent. Cost: O(pixels).
[[nodiscard]] std::string png(std::span<const std::uint8_t> pixels, int width, int height, int channels);

/// Encodes bytes (RFC 4648), e.g. for data:image/png;base64,… URLs.
[[nodiscard]] std::string base64(std::string_view bytes);

/// Returns the shape in which samples are drawn: images of one or three channels as they are, vectors of square length
/// (at least 2×2) as squares; std::nullopt for others and for images with an edge above 512.
[[nodiscard]] std::optional<Shape> picture_shape(const Shape& sample);

/// A sample drawn as pictures side by side above one line of text.
struct Pictured {
  std::string words = {};
  std::vector<std::vector<double>> pictures = {};  ///< each has shape.size() numbers
};

/// Draws pictures in rows of a few samples; `low` is black, `high` is white. Throws Error{usage} if a picture has
/// another size.
[[nodiscard]] Figure picture_sheet(std::span<const Pictured> samples, const Shape& shape, double low, double high,
                                   const std::string& title);

}  // namespace widelimit
