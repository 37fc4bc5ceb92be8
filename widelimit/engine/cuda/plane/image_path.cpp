#include "widelimit/engine/cuda/path.hpp"
#include "widelimit/engine/cuda/plane/plane_path.hpp"

#include <algorithm>
#include <mutex>

namespace widelimit::cuda {

namespace {

/// Images in device memory, with the path that fills matrices with their pairs.
class ImageLoaded final : public DeviceLoaded {
 public:
  ImageLoaded(std::shared_ptr<Device> device, std::unique_ptr<const PlanePath> path, PlaneImages images)
      : device_(std::move(device)), path_(std::move(path)), images_(std::move(images)) {}

  [[nodiscard]] Index count() const override { return images_.count; }
  [[nodiscard]] double quadrature_error() const override { return images_.error; }

  void fill(const Recipe& /*recipe*/, Range rows, const Loaded& other, Range cols, bool symmetric,
            std::span<const Array> outputs, const std::function<void(Index)>& after) const override {
    require_digits(path_->lowered().arithmetic, outputs);
    std::vector<PlaneOutput> places;
    for (const Array& output : outputs) places.push_back({output.data, output.stride, output.precision});
    path_->fill(images_, rows, dynamic_cast<const ImageLoaded&>(other).images_, cols, symmetric, places, after);
    if (!symmetric) return;
    write_diagonal(device_, own_pairs([](Index) {}), rows, places);
    after(rows.size() * (rows.size() + 1) / 2);
  }

  void diagonal(MatrixView<double> outputs, const std::function<void(Index)>& after) const override {
    const MatrixView<const double> found = own_pairs(after);
    for (Index s = 0; s < outputs.rows; ++s) std::copy_n(found.row(s), outputs.cols, outputs.row(s));
  }

 private:
  [[nodiscard]] MatrixView<const double> own_pairs(const std::function<void(Index)>& after) const {
    const std::lock_guard lock(guard_);
    if (diagonal_.cols() != images_.count) {
      Matrix<double> found(path_->lowered().outputs, images_.count, Content::unset);
      path_->diagonal(images_, found.view(), after);
      diagonal_ = std::move(found);
    }
    return diagonal_.view();
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<const PlanePath> path_;
  PlaneImages images_;
  mutable std::mutex guard_;
  mutable Matrix<double> diagonal_;  ///< outputs × n, computed on first use
};

class ImagePath final : public Path {
 public:
  ImagePath(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision)
      : device_(std::move(device)),
        recipe_(recipe),
        precision_(precision),
        lowered_(lower_planes(recipe, precision, device_->planes().register_memory())) {}

  [[nodiscard]] std::string obstacle() const override { return lowered_.obstacle; }
  [[nodiscard]] std::string route() const override { return plane_route(lowered_); }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& after) const override {
    auto path = std::make_unique<PlanePath>(device_, recipe_, precision_, scratch_limit(*device_));
    PlaneImages images = path->load(x, threads, after);
    return std::make_unique<ImageLoaded>(device_, std::move(path), std::move(images));
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& /*x*/) const override { return record_bytes(lowered_); }
  [[nodiscard]] Index tile_edge() const override { return recipe_.all_pairs ? pooled_edge : equal_edge; }

 private:
  /// Tile edges that take some tenths of a second: all pairs of positions, or equal positions only.
  static constexpr Index pooled_edge = 128;
  static constexpr Index equal_edge = 512;

  std::shared_ptr<Device> device_;
  const Recipe& recipe_;
  Precision precision_;
  LoweredPlanes lowered_;
};

}  // namespace

std::unique_ptr<Path> image_path(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision) {
  return std::make_unique<ImagePath>(std::move(device), recipe, precision);
}

}  // namespace widelimit::cuda
