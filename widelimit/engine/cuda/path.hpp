#pragma once

#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/kernels.hpp"

/// Internal to the cuda engine: three evaluation paths for recipes behind one interface.
namespace widelimit::cuda {

/// Samples in device memory, with the calls that fill matrices with their pairs (documented in Kernels).
class DeviceLoaded : public Loaded {
 public:
  virtual void fill(const Recipe& recipe, Range rows, const Loaded& other, Range cols, bool symmetric,
                    std::span<const Array> outputs, const std::function<void(Index pairs)>& after) const = 0;
  virtual void diagonal(MatrixView<double> outputs, const std::function<void(Index done)>& after) const = 0;
};

/// One evaluation path for one recipe in one precision.
class Path {
 public:
  virtual ~Path() = default;
  /// Returns the reason why this path does not support the recipe, empty if it does. The other calls require support.
  [[nodiscard]] virtual std::string obstacle() const = 0;
  [[nodiscard]] virtual std::string route() const = 0;
  /// Computes the per-sample part on `threads` host threads.
  [[nodiscard]] virtual std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                                     const std::function<void(Index done)>& after) const = 0;
  [[nodiscard]] virtual std::size_t loaded_bytes(const SampleView& x) const = 0;
  [[nodiscard]] virtual Index tile_edge() const = 0;
};

/// Networks on vectors: correlations of a tile by one matrix product, then all steps on its pairs in one pass.
[[nodiscard]] std::unique_ptr<Path> dense_path(std::shared_ptr<Device> device, const Recipe& recipe,
                                               Precision precision);
/// Networks on images by displacement planes.
[[nodiscard]] std::unique_ptr<Path> image_path(std::shared_ptr<Device> device, const Recipe& recipe,
                                               Precision precision);

/// All pairs of places (positions of an image or nodes of a graph) of each pair of samples: supports every recipe
/// without a user-defined activation. `instead`: the obstacle of the path that this one replaces.
[[nodiscard]] std::unique_ptr<Path> place_path(std::shared_ptr<Device> device, const Recipe& recipe,
                                               Precision precision, std::string instead);

/// Returns the first activation that keeps a recipe off the device (user-defined, or several in a row without closed
/// form) as a message; empty if there is none.
[[nodiscard]] std::string host_only_activation(const Recipe& recipe);
/// Throws Error{usage} if samples loaded for `arithmetic` cannot fill outputs of this precision.
void require_digits(Precision arithmetic, std::span<const Array> outputs);

}  // namespace widelimit::cuda
