#include "widelimit/network/shape.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace widelimit {

namespace {

struct Grid {
  Index height = 1;
  Index width = 1;
  bool nodes = false;  ///< nodes of a graph instead of a grid
  bool operator==(const Grid&) const = default;
};

std::string to_string(const Grid& grid) {
  return grid.nodes ? std::string("one at each node") : fmt::format("{}x{}", grid.height, grid.width);
}
std::string to_string(const Extent& extent) { return fmt::format("{}x{}", extent.rows, extent.cols); }

/// Traverses the tree in the order of evaluation and records the grid after every layer.
class ShapeRecorder {
 public:
  explicit ShapeRecorder(std::vector<LayerShape>& shapes) : shapes_(shapes) {}

  Grid series(const Layers& layers, Grid grid, const std::string& prefix) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string place = fmt::format("{}{}", prefix, i + 1);
      const std::string name =
          std::holds_alternative<Residual>(layers[i].value) ? std::string("residual") : to_text(layers[i]);
      grid = std::visit([&](const auto& layer) { return after(layer, grid, place, name); }, layers[i].value);
      shapes_.push_back({place, name, grid.height, grid.width, grid.nodes});
    }
    return grid;
  }

 private:
  using Text = std::string;

  static void refuse_nodes(Grid grid, const Text& place, const Text& name) {
    if (!grid.nodes) return;
    fail(Code::input, "layer {} ({}) needs positions on a grid, but the samples are graphs, whose nodes have no order",
         place, name);
  }
  static Grid windows(const Extent& window, const Extent& strides, Padding padding, Grid grid, const Text& place,
                      const Text& name) {
    refuse_nodes(grid, place, name);
    const Grid result{windowing(grid.height, window.rows, strides.rows, padding).count,
                      windowing(grid.width, window.cols, strides.cols, padding).count};
    if (result.height == 0 || result.width == 0) {
      fail(Code::input,
           "layer {} ({}): its {} window is larger than the {} positions it reads; use a smaller window, padding=SAME, "
           "or a larger input",
           place, name, to_string(window), to_string(grid));
    }
    return result;
  }

  Grid after(const Dense&, Grid grid, const Text&, const Text&) { return grid; }
  Grid after(const Activation&, Grid grid, const Text&, const Text&) { return grid; }
  Grid after(const LayerNorm&, Grid grid, const Text&, const Text&) { return grid; }
  Grid after(const Dropout&, Grid grid, const Text&, const Text&) { return grid; }
  Grid after(const Scale&, Grid grid, const Text&, const Text&) { return grid; }
  Grid after(const Attention&, Grid grid, const Text& place, const Text& name) {
    refuse_nodes(grid, place, name);
    return grid;
  }
  Grid after(const Aggregate&, Grid grid, const Text& place, const Text& name) {
    if (grid.nodes) return grid;
    fail(Code::input, "layer {} ({}) sums over neighbours in a graph, but the samples are {}", place, name,
         grid == Grid{} ? "vectors" : "images");
  }
  Grid after(const GlobalPool&, Grid, const Text&, const Text&) { return {}; }
  Grid after(const Flatten&, Grid grid, const Text& place, const Text& name) {
    refuse_nodes(grid, place, name);
    return {};
  }
  Grid after(const Conv& conv, Grid grid, const Text& place, const Text& name) {
    return windows(conv.kernel, conv.strides, conv.padding, grid, place, name);
  }
  Grid after(const Pool& pool, Grid grid, const Text& place, const Text& name) {
    return windows(pool.window, pool.strides, pool.padding, grid, place, name);
  }
  Grid after(const Residual& residual, Grid grid, const Text& place, const Text& name) {
    const Grid branch = series(residual.branch, grid, place + ".branch.");
    const Grid shortcut = residual.shortcut ? series(*residual.shortcut, grid, place + ".shortcut.") : grid;
    if (branch == shortcut) return branch;
    fail(Code::input, "layer {} ({}): the branch ends with {} positions, the {} with {}; both must be equal, as in {}",
         place, name, to_string(branch), residual.shortcut ? "shortcut" : "input that the identity adds",
         to_string(shortcut), "residual{ conv(strides=2) relu conv | conv(kernel=1, strides=2) }");
  }

  std::vector<LayerShape>& shapes_;
};

bool reads_positions(const Layers& layers);

struct ReadsPositions {
  bool operator()(const Dense&) const { return false; }
  bool operator()(const Conv&) const { return true; }
  bool operator()(const Activation&) const { return false; }
  bool operator()(const Pool&) const { return true; }
  bool operator()(const GlobalPool&) const { return true; }
  bool operator()(const Flatten&) const { return true; }
  bool operator()(const LayerNorm&) const { return false; }
  bool operator()(const Dropout&) const { return false; }
  bool operator()(const Scale&) const { return false; }
  bool operator()(const Attention&) const { return true; }
  bool operator()(const Aggregate&) const { return true; }
  bool operator()(const Residual& residual) const {
    return reads_positions(residual.branch) || (residual.shortcut && reads_positions(*residual.shortcut));
  }
};

bool reads_positions(const Layers& layers) {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layer& layer) { return std::visit(ReadsPositions{}, layer.value); });
}

bool aggregates(const Layers& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
    const auto* residual = std::get_if<Residual>(&layer.value);
    if (residual == nullptr) return std::holds_alternative<Aggregate>(layer.value);
    return aggregates(residual->branch) || (residual->shortcut && aggregates(*residual->shortcut));
  });
}

/// The first layer, in the order of evaluation, that combines neighbouring positions.
struct Neighbours {
  std::string place;
  std::string layer;
};

struct ReadsNeighbours {
  bool operator()(const Conv& conv) const { return conv.kernel != Extent{1, 1}; }
  bool operator()(const Pool& pool) const { return pool.window != Extent{1, 1}; }
  bool operator()(const GlobalPool&) const { return true; }
  bool operator()(const Attention&) const { return true; }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

std::optional<Neighbours> first_neighbours(const Layers& layers, const std::string& prefix) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string place = fmt::format("{}{}", prefix, i + 1);
    if (const auto* residual = std::get_if<Residual>(&layers[i].value)) {
      if (auto found = first_neighbours(residual->branch, place + ".branch.")) return found;
      if (!residual->shortcut) continue;
      if (auto found = first_neighbours(*residual->shortcut, place + ".shortcut.")) return found;
    } else if (std::visit(ReadsNeighbours{}, layers[i].value)) {
      return Neighbours{place, to_text(layers[i])};
    }
  }
  return std::nullopt;
}

/// Image shape that a vector may represent: square, with one or three channels.
std::string likely_image(Index values) {
  for (const Index channels : {1, 3}) {
    const auto side =
        static_cast<Index>(std::lround(std::sqrt(static_cast<double>(values) / static_cast<double>(channels))));
    const Shape image{side, side, channels};
    if (side > 1 && image.size() == values) return fmt::format(", perhaps {}", widelimit::to_string(image));
  }
  return "";
}

/// Rejects layers over positions on vectors, which have one position; a convolution would then be a dense layer, which
/// is rarely intended.
void refuse_vectors(const Network& network, const Shape& input) {
  if (!input.is_vector()) return;
  if (const auto layer = first_neighbours(network.layers, "")) {
    fail(Code::input, {Remedy::image_shape},
         "layer {} ({}) combines neighbouring positions, but samples of {} values have only one; specify the shape "
         "of an image{}",
         layer->place, layer->layer, input.size(), likely_image(input.size()));
  }
}

}  // namespace

Windowing windowing(Index n, Index size, Index stride, Padding padding) {
  if (padding == Padding::valid) return {n < size ? 0 : (n - size) / stride + 1, 0};
  const Index count = (n + stride - 1) / stride;
  return {count, std::max((count - 1) * stride + size - n, Index{0}) / 2};
}

bool is_spatial(const Network& network) { return reads_positions(network.layers); }

bool reads_graphs(const Network& network) { return aggregates(network.layers); }

Shape effective_input(const Network& network, const Shape& input) {
  return input.nodes || is_spatial(network) ? input : input.flattened();
}

std::string layout_warning(const Network& network, const Shape& input) {
  constexpr Index most_channels = 4;  // grey, RGB, RGB with alpha
  constexpr Index least_side = 8;
  const bool square = input.width == input.channels;
  const bool colour = input.height == 3 && input.channels >= least_side && input.width >= least_side;
  const bool transposed = input.height <= most_channels && input.width > most_channels && (square || colour);
  if (!transposed || !first_neighbours(network.layers, "")) return "";
  return fmt::format(
      "samples of shape {} are read as {} rows of {} columns with {} channels; they look like images of {} whose "
      "channels come first",
      widelimit::to_string(input), input.height, input.width, input.channels,
      widelimit::to_string(Shape{input.width, input.channels, input.height}));
}

std::vector<LayerShape> infer_shapes(const Network& network, const Shape& input) {
  validate(network);
  if (input.height < 1 || input.width < 1 || input.channels < 1) {
    fail(Code::input, "input shape {} must have sizes of at least 1", widelimit::to_string(input));
  }
  if (!reads_graphs(network)) refuse_vectors(network, input);
  const Shape read = effective_input(network, input);
  std::vector<LayerShape> shapes;
  const Grid end = ShapeRecorder(shapes).series(network.layers, {read.height, read.width, read.nodes}, "");
  if (end != Grid{} && !end.nodes) {
    const LayerShape& last = shapes.back();
    fail(Code::input,
         "network ends with {} positions at layer {} ({}); add flatten or global_avg_pool before the last dense",
         to_string(end), last.place, last.layer);
  }
  return shapes;
}

}  // namespace widelimit
