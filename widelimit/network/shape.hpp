#pragma once

#include "widelimit/network/network.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Windows on one axis: number of output positions, and padding before position 0.
struct Windowing {
  Index count = 1;
  Index before = 0;
};

/// Windows of `size` with `stride` over `n` positions. SAME and CIRCULAR give ⌈n/stride⌉ positions with total padding
/// max((⌈n/s⌉−1)s + k − n, 0), the smaller half first (JAX, TensorFlow); VALID gives ⌊(n−k)/s⌋+1. count is 0 if no
/// window fits.
[[nodiscard]] Windowing windowing(Index n, Index size, Index stride, Padding padding);

/// Grid after one layer. Infinite width has no channel count; the kernel depends on the positions only. `place` is the
/// path of the layer, counted from 1: "3", or "3.branch.1" inside a residual.
struct LayerShape {
  std::string place;
  std::string layer;  ///< text of the layer; only the name for a residual, whose layers have their own shapes
  Index height = 1;
  Index width = 1;
  bool nodes = false;  ///< one position for each node of a graph
};

/// Whether the network depends on positions (conv, pooling, flatten, attention, aggregate); otherwise images are
/// flattened.
[[nodiscard]] bool is_spatial(const Network& network);

/// Whether the network sums over neighbours in a graph.
[[nodiscard]] bool reads_graphs(const Network& network);

/// Input shape of the network: flattened unless the network is spatial or the input consists of graphs.
[[nodiscard]] Shape effective_input(const Network& network, const Shape& input);

/// Returns a warning if images seem to be channels-first (3x32x32 rather than 32x32x3) and the network combines
/// neighbouring positions, else an empty string. A heuristic: an image three rows high with 32 channels is possible.
[[nodiscard]] std::string layout_warning(const Network& network, const Shape& input);

/// Shapes after every layer, in the order of evaluation (branch before shortcut, then the sum itself). Throws
/// Error{input} naming the layer and its position for: a convolution, pooling or attention on vectors, which have one
/// position (with a likely image shape, and Remedy::image_shape); a window larger than the image; branches of different
/// shape; an output that still has positions (nodes are allowed); an empty network; on graphs a layer that needs a
/// grid, on other samples one that needs graphs.
[[nodiscard]] std::vector<LayerShape> infer_shapes(const Network& network, const Shape& input);

}  // namespace widelimit
