#pragma once

#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plane/plane_lowering.hpp"

#include <memory>

/// Networks on images by displacement planes on a device.
namespace widelimit::cuda {

/// Returns a description of the path: "displacement planes (1024) on the device, double".
[[nodiscard]] std::string plane_route(const LoweredPlanes& lowered);
/// Returns the device memory per image in bytes.
[[nodiscard]] std::size_t record_bytes(const LoweredPlanes& lowered);

/// Images in device memory, with all per-image data.
struct PlaneImages {
  DeviceBuffer records, registers, scales;
  Index count = 0;
  double error = 0;  ///< quadrature error
};

/// Sets outputs[s](k, k) = values(s, samples.begin + k).
void write_diagonal(const std::shared_ptr<Device>& device, MatrixView<const double> values, Range samples,
                    std::span<const PlaneOutput> outputs);

class PlanePath {
 public:
  /// The recipe must have no obstacle. `scratch_bytes`: limit on the buffers between stages, allocated per call.
  PlanePath(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision,
            std::size_t scratch_bytes = std::size_t{2} << 30);

  [[nodiscard]] const LoweredPlanes& lowered() const { return lowered_; }
  [[nodiscard]] PlaneImages load(const SampleView& x, int threads, const std::function<void(Index done)>& after) const;
  /// outputs[s](i − rows.begin, j − cols.begin) = output s of images i of x1 and j of x2. If `symmetric`, x1 and x2
  /// are the same and so are the ranges: computes pairs i < j and mirrors them; write_diagonal writes the diagonal.
  /// Calls `after` with the number of finished pairs; `after` throws to stop the work.
  void fill(const PlaneImages& x1, Range rows, const PlaneImages& x2, Range cols, bool symmetric,
            std::span<const PlaneOutput> outputs, const std::function<void(Index pairs)>& after) const;
  /// Computes values(s, i), output s of image i with itself.
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

  std::shared_ptr<Device> device_;
  Recipe recipe_;
  Precision precision_;
  LoweredPlanes lowered_;
  std::size_t scratch_bytes_;
  std::vector<DeviceBuffer> steps_, dy_, dx_;  ///< per stage
};

}  // namespace widelimit::cuda
