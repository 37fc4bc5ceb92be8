#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/path.hpp"
#include "widelimit/engine/cuda/place/place_fill.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::cuda {

namespace {

/// Images or graphs in device memory, with the object that fills matrices with their pairs.
class PlaceLoaded final : public DeviceLoaded {
 public:
  PlaceLoaded(std::unique_ptr<const PlaceFill> fill, LoadedPlaces loaded)
      : fill_(std::move(fill)), loaded_(std::move(loaded)) {}

  [[nodiscard]] Index count() const override { return loaded_.samples; }
  [[nodiscard]] double quadrature_error() const override { return loaded_.error; }

  void fill(const Recipe& /*recipe*/, Range rows, const Loaded& other, Range cols, bool symmetric,
            std::span<const Array> outputs, const std::function<void(Index)>& after) const override {
    require_digits(fill_->lowered().arithmetic, outputs);
    std::vector<PlaneOutput> places;
    for (const Array& output : outputs) places.push_back({output.data, output.stride, output.precision});
    fill_->fill(loaded_, rows, dynamic_cast<const PlaceLoaded&>(other).loaded_, cols, symmetric, places, after);
  }

  void diagonal(MatrixView<double> outputs, const std::function<void(Index)>& /*after*/) const override {
    for (Index s = 0; s < outputs.rows; ++s) std::copy_n(loaded_.diagonal.view().row(s), outputs.cols, outputs.row(s));
  }

 private:
  std::unique_ptr<const PlaceFill> fill_;
  LoadedPlaces loaded_;
};

class PlacePath final : public Path {
 public:
  PlacePath(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision, std::string instead)
      : device_(std::move(device)),
        recipe_(recipe),
        precision_(precision),
        instead_(std::move(instead)),
        lowered_(lower_places(recipe, precision)) {}

  [[nodiscard]] std::string obstacle() const override { return host_only_activation(recipe_); }
  [[nodiscard]] std::string route() const override {
    const char* arithmetic = lowered_.arithmetic == Precision::f32 ? "float" : "double";
    if (recipe_.input.nodes) {
      return fmt::format("graphs, pairs of nodes on the device, nodes of equal colour merged, {}", arithmetic);
    }
    return fmt::format("general path on the device ({}), {}, {}", instead_,
                       recipe_.all_pairs ? "all position pairs" : "equal positions", arithmetic);
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& after) const override {
    if (recipe_.input.nodes && x.graphs() == nullptr) {
      fail(Code::input, "the network reads graphs, and the samples are rows of numbers");
    }
    const std::size_t scratch = scratch_limit(*device_);
    LoadedPlaces loaded = recipe_.input.nodes
                              ? load_graphs(device_, recipe_, lowered_, *x.graphs(), precision_, threads, after)
                              : load_images(device_, recipe_, lowered_, x, precision_, threads, after);
    auto fill = std::make_unique<PlaceFill>(device_, recipe_, lowered_, scratch);
    return std::make_unique<PlaceLoaded>(std::move(fill), std::move(loaded));
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& x) const override {
    return recipe_.input.nodes ? loaded_graph_bytes(recipe_, x) : loaded_image_bytes(recipe_);
  }
  /// Tile edges that take some tenths of a second; tiles of node samples consist of whole graphs.
  [[nodiscard]] Index tile_edge() const override {
    if (recipe_.input.nodes) return recipe_.at_nodes() ? nodes_edge : graphs_edge;
    return recipe_.all_pairs ? pooled_edge : equal_edge;
  }

 private:
  static constexpr Index nodes_edge = 8192;
  static constexpr Index graphs_edge = 1024;
  static constexpr Index pooled_edge = 32;
  static constexpr Index equal_edge = 512;

  std::shared_ptr<Device> device_;
  const Recipe& recipe_;
  Precision precision_;
  std::string instead_;
  LoweredPlaces lowered_;
};

}  // namespace

std::unique_ptr<Path> place_path(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision,
                                 std::string instead) {
  return std::make_unique<PlacePath>(std::move(device), recipe, precision, std::move(instead));
}

}  // namespace widelimit::cuda
