#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plane/plane_lowering.hpp"

#include <memory>

/// Networks on images by displacement planes of a device.
namespace widelimit::cuda {

/// Memory of a plane device that is given back with the object.
class PlaneBuffer {
 public:
  PlaneBuffer() = default;
  PlaneBuffer(std::shared_ptr<PlaneDevice> device, std::size_t bytes)
      : device_(std::move(device)), data_(bytes > 0 ? device_->allocate(bytes) : nullptr) {}
  PlaneBuffer(PlaneBuffer&& other) noexcept
      : device_(std::move(other.device_)), data_(std::exchange(other.data_, nullptr)) {}
  PlaneBuffer& operator=(PlaneBuffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    return *this;
  }
  PlaneBuffer(const PlaneBuffer&) = delete;
  PlaneBuffer& operator=(const PlaneBuffer&) = delete;
  ~PlaneBuffer() {
    if (data_ != nullptr) device_->release(data_);
  }
  template <typename T = void>
  [[nodiscard]] T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  std::shared_ptr<PlaneDevice> device_;
  void* data_ = nullptr;
};

/// Images in device memory, with all that belongs to single ones.
struct PlaneImages {
  PlaneBuffer records, registers, scales;
  Index count = 0;
  double error = 0;  ///< of quadrature
};

class PlanePath {
 public:
  /// The recipe must have no obstacle. `scratch_bytes`: what lies between two stages.
  PlanePath(std::shared_ptr<PlaneDevice> device, const Recipe& recipe, Precision precision, bool fast = true,
            std::size_t scratch_bytes = std::size_t{2} << 30);
  PlanePath(const PlanePath&) = delete;
  PlanePath& operator=(const PlanePath&) = delete;
  ~PlanePath();

  /// Words for the route of a recipe: "displacement planes in registers, float".
  [[nodiscard]] std::string route() const;
  [[nodiscard]] const LoweredPlanes& lowered() const { return lowered_; }
  [[nodiscard]] PlaneImages load(const SampleView& x, int threads, const std::function<void(Index done)>& after) const;
  /// Device bytes for each image.
  [[nodiscard]] std::size_t loaded_bytes() const;
  /// outputs[s](i − rows.begin, j − cols.begin) = output s of images i of x1 and j of x2. Where `symmetric`, x1 and x2
  /// are the same and so are the ranges: pairs i < j are computed and mirrored, and the diagonal is what `diagonal`
  /// says. `after` is called with the number of pairs done; it stops by throwing.
  void fill(const PlaneImages& x1, Range rows, const PlaneImages& x2, Range cols, bool symmetric,
            std::span<const PlaneOutput> outputs, const std::function<void(Index pairs)>& after) const;
  /// values(s, i) of each image with itself.
  void diagonal(const PlaneImages& x, MatrixView<double> values, const std::function<void(Index done)>& after) const;

 private:
  struct Sides {
    const PlaneImages& first;
    const PlaneImages& second;
    bool self;
  };
  class Scratch;

  template <typename T>
  [[nodiscard]] PlaneImages load_as(const SampleView& x, int threads, const std::function<void(Index)>& after) const;
  void run_chunk(const Sides& sides, std::span<const ImagePair> pairs, const Scratch& scratch) const;
  [[nodiscard]] PlaneStageCall call_of(std::size_t s) const;
  void run_registers(const Sides& sides, const ImagePair* pairs, int count, void* to) const;
  [[nodiscard]] std::size_t bytes_after(std::size_t stage) const;
  [[nodiscard]] std::size_t register_bytes() const;
  [[nodiscard]] Index square_edge() const;
  [[nodiscard]] Index most_pairs() const;
  [[nodiscard]] const Scratch& scratch_for(Index pairs) const;
  void self_values(const PlaneImages& x, Range images, MatrixView<double> values,
                   const std::function<void(Index done)>& after) const;
  void write_diagonal(const PlaneImages& x, Range images, std::span<const PlaneOutput> outputs) const;

  std::shared_ptr<PlaneDevice> device_;
  Recipe recipe_;
  Precision precision_;
  LoweredPlanes lowered_;
  std::size_t scratch_bytes_;
  std::vector<PlaneBuffer> steps_, dy_, dx_;  ///< by stage
  mutable std::unique_ptr<Scratch> scratch_;  ///< kept between calls, which come one after the other
};

}  // namespace widelimit::cuda
