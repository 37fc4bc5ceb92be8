#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/convolution.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/network/layer.hpp"

#include <vector>

namespace widelimit {

/// The input position that each place of each window reads: entry o·(window size) + k for output position o, −1 outside
/// the image (SAME padding).
class Windows {
 public:
  Windows(const Shape& in, const Extent& window, const Extent& strides, Padding padding);

  [[nodiscard]] Index height() const { return height_; }
  [[nodiscard]] Index width() const { return width_; }
  [[nodiscard]] Index size() const { return size_; }  ///< places per window
  [[nodiscard]] Index input(Index output, Index place) const {
    return positions_[static_cast<std::size_t>(output * size_ + place)];
  }

  /// The inputs of each output position, and the output positions that read each input position: at most one per place.
  [[nodiscard]] host::Connections connections() const { return {positions_, order_, size_}; }
  [[nodiscard]] host::Connections readers() const { return {readers_, reader_order_, size_}; }

  /// Window geometry for engines with separate memory.
  [[nodiscard]] const WindowGrid& grid() const { return grid_; }

  /// im2col: gathers the inputs of every window side by side, with zero padding: N × outputs × (window size ·
  /// channels).
  template <std::floating_point T>
  void gather(const Tensor<T>& input, Tensor<T>& patches, const Engine& engine) const;
  /// Transpose of gather: adds every place of every window to the position of `in` that it reads.
  template <std::floating_point T>
  void scatter(const Tensor<T>& patches, const Shape& in, Tensor<T>& sum, const Engine& engine) const;

 private:
  Index height_;
  Index width_;
  Index size_;
  std::vector<Index> positions_;
  std::vector<Index> order_;
  std::vector<Index> readers_;
  std::vector<Index> reader_order_;
  WindowGrid grid_;
};

}  // namespace widelimit
