#pragma once

#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/kernels.hpp"

/// Inside the cuda engine: three ways to evaluate recipes, behind one interface.
namespace widelimit::cuda {

/// Samples in device memory. They know how to fill matrices with their pairs (Kernels says what each call does).
class DeviceLoaded : public Loaded {
 public:
  virtual void fill(const Recipe& recipe, Range rows, const Loaded& other, Range cols, bool symmetric,
                    std::span<const Array> outputs, const std::function<void(Index pairs)>& after) const = 0;
  virtual void diagonal(MatrixView<double> outputs, const std::function<void(Index done)>& after) const = 0;
};

/// One way to evaluate one recipe in one precision.
class Path {
 public:
  virtual ~Path() = default;
  /// Why the recipe does not run this way, in words; empty where it does. The other calls are for those that do.
  [[nodiscard]] virtual std::string obstacle() const = 0;
  [[nodiscard]] virtual std::string route() const = 0;
  /// The per-sample part is computed on `threads` threads of the host.
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

/// All pairs of places of each pair of samples, places being positions of an image or nodes of a graph: every recipe
/// without an activation of the user's own. `instead`: what keeps another way from it.
[[nodiscard]] std::unique_ptr<Path> place_path(std::shared_ptr<Device> device, const Recipe& recipe,
                                               Precision precision, std::string instead);

/// The activation of a user's own, or several in a row without closed form, that keeps a recipe from a device; empty
/// where there is none.
[[nodiscard]] std::string own_activation(const Recipe& recipe);
/// Error{usage} where samples loaded for `arithmetic` are asked for outputs of more digits.
void require_digits(Precision arithmetic, std::span<const Array> outputs);

}  // namespace widelimit::cuda
