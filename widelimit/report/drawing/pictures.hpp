#pragma once

#include "widelimit/report/drawing/figures.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

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
