#include "widelimit/data/preparation/image_layout.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Returns the Shape that a C×H×W array has if it is read as H×W×C.
Shape channels_first_shape(const Shape& image) { return {image.channels, image.height, image.width}; }

/// Transposes C×H×W to H×W×C, sample by sample.
template <std::floating_point T>
void move_channels_last(Matrix<T>& values, const Shape& image) {
  const Index positions = image.positions();
  if (positions == 1 || image.channels == 1) return;
  std::vector<T> planes(usize(image.size()));
  for (Index i = 0; i < values.rows(); ++i) {
    T* sample = values.view().row(i);
    std::copy_n(sample, image.size(), planes.begin());
    for (Index p = 0; p < positions; ++p) {
      for (Index c = 0; c < image.channels; ++c) sample[p * image.channels + c] = planes[usize(c * positions + p)];
    }
  }
}

/// Returns the image shape to which samples are converted.
Shape image_of(const Dataset& data, const ImageLayout& layout) {
  if (layout.shape) return *layout.shape;
  if (data.shape.is_vector()) {
    fail(Code::input, {Remedy::image_shape},
         "{}: samples are vectors of {} values; give their image shape to move the channels last", data.name,
         data.shape.size());
  }
  return {data.shape.width, data.shape.channels, data.shape.height};
}

}  // namespace

void lay_out(Dataset& data, const ImageLayout& layout) {
  if (!layout.given()) return;
  if (layout.where_needed && layout.shape) return lay_out_like(data, *layout.shape, layout.channels_first);
  const Shape image = image_of(data, layout);
  if (image.size() != data.shape.size()) {
    fail(Code::input, "{}: samples have {} values, but images of {} have {}", data.name, data.shape.size(),
         to_string(image), image.size());
  }
  const Shape transposed = channels_first_shape(image);
  const Shape expected = layout.channels_first ? transposed : image;
  if (!data.shape.is_vector() && data.shape != expected) {
    std::vector<Remedy> remedies;
    if (data.shape == transposed) remedies.push_back(Remedy::channels_first);
    fail(Code::input, remedies, "{}: samples have the shape {}, not {}", data.name, to_string(data.shape),
         to_string(expected));
  }
  // Images need dense values.
  if (const auto* sparse = std::get_if<SparseMatrix>(&data.values)) data.values = dense_copy(sparse->view());
  if (layout.channels_first) {
    if (auto* values = std::get_if<Matrix<float>>(&data.values)) move_channels_last(*values, image);
    if (auto* values = std::get_if<Matrix<double>>(&data.values)) move_channels_last(*values, image);
  }
  data.shape = image;
}

void lay_out_like(Dataset& data, const Shape& shape, bool channels_first) {
  const bool flat = data.shape.is_vector() && !shape.is_vector() && data.shape.size() == shape.size();
  const bool transposed = channels_first && data.shape != shape && data.shape == channels_first_shape(shape);
  if (flat || transposed) lay_out(data, {.shape = shape, .channels_first = channels_first});
}

}  // namespace widelimit
