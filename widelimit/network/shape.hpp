#pragma once

#include "widelimit/network/network.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Where a window lands on one axis: output positions, and how far before position 0 the first window starts.
struct Windowing {
  Index count = 1;
  Index before = 0;
};

/// `n` positions seen through windows of `size` with `stride`. SAME and CIRCULAR give ⌈n/stride⌉ positions, total
/// padding max((⌈n/s⌉−1)s + k − n, 0) with the smaller half first (JAX, TensorFlow); VALID gives ⌊(n−k)/s⌋+1.
/// count is 0 where no window fits.
[[nodiscard]] Windowing windowing(Index n, Index size, Index stride, Padding padding);

/// Grid of positions and what is on it, after one layer. Infinite width has no channel count; `positions` is what
/// the kernel sees. `place` is the path of the layer, counted from 1: "3", or "3.branch.1" inside a residual.
struct LayerShape {
  std::string place;
  std::string layer;  ///< the layer's text; of a residual, whose layers have shapes of their own, the name
  Index height = 1;
  Index width = 1;
  bool nodes = false;  ///< one position for each node of a graph
};

/// True where the network reads positions (conv, pooling, flatten, attention, aggregate); otherwise images are read
/// flattened.
[[nodiscard]] bool is_spatial(const Network& network);

/// True where the network sums over neighbours in a graph.
[[nodiscard]] bool reads_graphs(const Network& network);

/// The input as the network reads it: flattened unless it is spatial, or graphs.
[[nodiscard]] Shape effective_input(const Network& network, const Shape& input);

/// A warning where images look as if their channels came first (3x32x32 rather than 32x32x3) and the network looks at
/// neighbouring positions; empty otherwise. A guess: a picture three rows high and 32 channels deep may be what it
/// says.
[[nodiscard]] std::string layout_warning(const Network& network, const Shape& input);

/// Shapes after every layer, in the order of evaluation (branch before shortcut, then the sum itself).
/// Error{input} names the layer and its place: a convolution, pooling or attention on vectors, which have one position
/// (with the shape of an image that may be meant, and Remedy::image_shape), a window larger than the image, branches of
/// different shape, an output that still has positions (nodes may stay apart), an empty network; on graphs a layer that
/// needs a grid, on other samples one that needs graphs.
[[nodiscard]] std::vector<LayerShape> infer_shapes(const Network& network, const Shape& input);

}  // namespace widelimit
