#pragma once

#include "widelimit/data/dataset.hpp"

#include <optional>

namespace widelimit {

/// Image layout of the values of a sample, if the source does not specify it or uses another order.
struct ImageLayout {
  std::optional<Shape> shape = {};  ///< of the images that flat samples represent
  bool channels_first = false;      ///< values are ordered C×H×W, not H×W×C
  bool where_needed = false;        ///< as lay_out_like: leave samples unchanged if they do not need conversion

  [[nodiscard]] bool given() const { return shape || channels_first; }
};

/// Converts samples to images with channels last, in place. Flat samples are reshaped to the given shape; images must
/// already have it, or its transpose if channels are first. Throws Error{input} if they do not, or if flat samples are
/// given without a shape.
void lay_out(Dataset& data, const ImageLayout& layout);

/// Converts new samples for a model fitted on images of `shape`: flat samples of equal size are reshaped, and samples
/// with channels first are transposed if the model's were. Others are unchanged.
void lay_out_like(Dataset& data, const Shape& shape, bool channels_first);

}  // namespace widelimit
