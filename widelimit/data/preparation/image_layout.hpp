#pragma once

#include "widelimit/data/dataset.hpp"

#include <optional>

namespace widelimit {

/// How the values of a sample form an image, where the source does not say it, or says it in another order.
struct ImageLayout {
  std::optional<Shape> shape = {};  ///< of the images that flat samples are
  bool channels_first = false;      ///< values lie channel by channel (C×H×W), not position by position
  bool where_needed = false;        ///< as lay_out_like: samples that do not have to change stay as they are

  [[nodiscard]] bool given() const { return shape || channels_first; }
};

/// The samples as images of positions with channels last. Flat samples take the shape; images must have it already, or,
/// channels first, its transpose. Error{input} where they have not, or where flat samples have no shape to be taken
/// apart by. In place.
void lay_out(Dataset& data, const ImageLayout& layout);

/// New samples for a model that learned from images of `shape`: flat samples of as many values take it, and those whose
/// channels come first, where the model's did, are transposed. Others stay as they are.
void lay_out_like(Dataset& data, const Shape& shape, bool channels_first);

}  // namespace widelimit
