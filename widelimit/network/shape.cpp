#include "widelimit/network/shape.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>

namespace widelimit {

namespace {

struct Grid {
  Index height = 1;
  Index width = 1;
  bool operator==(const Grid&) const = default;
};

std::string to_string(const Grid& grid) { return fmt::format("{}x{}", grid.height, grid.width); }
std::string to_string(const Extent& extent) { return fmt::format("{}x{}", extent.rows, extent.cols); }

/// Walks the tree in the order of evaluation and writes down the grid after every layer.
class Walk {
 public:
  explicit Walk(std::vector<LayerShape>& shapes) : shapes_(shapes) {}

  Grid series(const Layers& layers, Grid grid, const std::string& prefix) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string place = fmt::format("{}{}", prefix, i + 1);
      const std::string name =
          std::holds_alternative<Residual>(layers[i].value) ? std::string("residual") : to_text(layers[i]);
      grid = std::visit([&](const auto& layer) { return after(layer, grid, place, name); }, layers[i].value);
      shapes_.push_back({place, name, grid.height, grid.width});
    }
    return grid;
  }

 private:
  using Text = std::string;

  static Grid windows(const Extent& window, const Extent& strides, Padding padding, Grid grid, const Text& place,
                      const Text& name) {
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
  Grid after(const Attention&, Grid grid, const Text&, const Text&) { return grid; }
  Grid after(const GlobalPool&, Grid, const Text&, const Text&) { return {}; }
  Grid after(const Flatten&, Grid, const Text&, const Text&) { return {}; }
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
  bool operator()(const Residual& residual) const {
    return reads_positions(residual.branch) || (residual.shortcut && reads_positions(*residual.shortcut));
  }
};

bool reads_positions(const Layers& layers) {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layer& layer) { return std::visit(ReadsPositions{}, layer.value); });
}

}  // namespace

Windowing windowing(Index n, Index size, Index stride, Padding padding) {
  if (padding == Padding::valid) return {n < size ? 0 : (n - size) / stride + 1, 0};
  const Index count = (n + stride - 1) / stride;
  return {count, std::max((count - 1) * stride + size - n, Index{0}) / 2};
}

bool is_spatial(const Network& network) { return reads_positions(network.layers); }

Shape effective_input(const Network& network, const Shape& input) {
  return is_spatial(network) ? input : input.flattened();
}

std::vector<LayerShape> infer_shapes(const Network& network, const Shape& input) {
  validate(network);
  if (input.height < 1 || input.width < 1 || input.channels < 1) {
    fail(Code::input, "input shape {} must have sizes of at least 1", widelimit::to_string(input));
  }
  const Shape read = effective_input(network, input);
  std::vector<LayerShape> shapes;
  const Grid end = Walk(shapes).series(network.layers, {read.height, read.width}, "");
  if (end != Grid{}) {
    const LayerShape& last = shapes.back();
    fail(Code::input,
         "network ends with {} positions at layer {} ({}); add flatten or global_avg_pool before the last dense",
         to_string(end), last.place, last.layer);
  }
  return shapes;
}

}  // namespace widelimit
