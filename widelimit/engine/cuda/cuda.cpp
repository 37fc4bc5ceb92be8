#include "widelimit/engine/cuda/cuda.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cuda/cone/cuda_cones.hpp"
#include "widelimit/engine/cuda/cuda_algebra.hpp"
#include "widelimit/engine/cuda/path.hpp"
#include "widelimit/engine/cuda/plugin_loader.hpp"
#include "widelimit/engine/layered_engine.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <semaphore>
#include <utility>
#include <vector>

namespace widelimit {

namespace {

using cuda::Device;
using cuda::DeviceFacts;

std::string facts_text(const DeviceFacts& facts) {
  return fmt::format("{}, {} of memory, compute capability {}.{}, driver of CUDA {}.{}", facts.name,
                     bytes_text(static_cast<double>(facts.memory)), facts.major, facts.minor, facts.driver / 1000,
                     facts.driver % 1000 / 10);
}

/// Returns the reason why the plug-in cannot use a device; empty if it can.
std::string refusal(const DeviceFacts& facts) {
  if (facts.major >= cuda::oldest_major) return {};
  return fmt::format("{} has compute capability {}.{}; {}.0 or later is required", facts.name, facts.major, facts.minor,
                     cuda::oldest_major);
}

/// A device shared by all engines of this process.
struct OpenDevice {
  explicit OpenDevice(std::shared_ptr<Device> opened) : device(std::move(opened)) {}
  std::shared_ptr<Device> device;
  /// Serialises tiles of several threads: one tile occupies the device, and there is one scratch buffer.
  std::mutex filling;
  /// Each thread holds one slot while its tile is on the device, so that finished tiles are fetched while one is
  /// filled.
  std::counting_semaphore<> tiles{cuda::tiles_under_way};
};

class TileSlot {
 public:
  explicit TileSlot(std::counting_semaphore<>& tiles) : tiles_(tiles) { tiles_.acquire(); }
  TileSlot(const TileSlot&) = delete;
  TileSlot& operator=(const TileSlot&) = delete;
  ~TileSlot() { tiles_.release(); }

 private:
  std::counting_semaphore<>& tiles_;
};

class CudaKernels final : public Kernels {
 public:
  CudaKernels(std::shared_ptr<OpenDevice> shared, const Algebra& algebra, int threads)
      : shared_(std::move(shared)), device_(shared_->device), algebra_(algebra), threads_(threads) {}

  [[nodiscard]] std::string obstacle(const Recipe& recipe, Precision precision) const override {
    return path_of(recipe, precision)->obstacle();
  }
  [[nodiscard]] std::string route(const Recipe& recipe, Precision precision) const override {
    return path_of(recipe, precision)->route();
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision precision,
                                             const std::function<void(Index)>& after) const override {
    if (const std::string reason = obstacle(recipe, precision); !reason.empty()) fail(Code::usage, "{}", reason);
    return path_of(recipe, precision)->load(x, threads_, after);
  }
  [[nodiscard]] std::size_t loaded_bytes(const Recipe& recipe, Precision precision,
                                         const SampleView& x) const override {
    return path_of(recipe, precision)->loaded_bytes(x);
  }
  [[nodiscard]] Index tile_edge(const Recipe& recipe) const override {
    return path_of(recipe, Precision::f64)->tile_edge();
  }

  void fill(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols, bool symmetric,
            std::span<const EngineMatrix> outputs, const std::function<void(Index)>& after) const override {
    std::vector<cuda::Array> arrays;
    for (const EngineMatrix& output : outputs) arrays.push_back(cuda::writable_array(output, *device_));
    const std::lock_guard lock(shared_->filling);
    of(x1).fill(recipe, rows, x2, cols, symmetric, arrays, after);
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<float>> outputs) const override {
    host_tile(recipe, x1, rows, x2, cols, outputs);
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<double>> outputs) const override {
    host_tile(recipe, x1, rows, x2, cols, outputs);
  }
  void diagonal(const Recipe& /*recipe*/, const Loaded& x, MatrixView<double> outputs,
                const std::function<void(Index)>& after) const override {
    of(x).diagonal(outputs, after);
  }

 private:
  [[nodiscard]] std::unique_ptr<cuda::Path> path_of(const Recipe& recipe, Precision precision) const {
    if (recipe.input.nodes) return cuda::place_path(device_, recipe, precision, {});
    auto path = recipe.on_vectors() ? cuda::dense_path(device_, recipe, precision)
                                    : cuda::image_path(device_, recipe, precision);
    std::string instead = path->obstacle();
    return instead.empty() ? std::move(path) : cuda::place_path(device_, recipe, precision, std::move(instead));
  }
  [[nodiscard]] static const cuda::DeviceLoaded& of(const Loaded& x) {
    return dynamic_cast<const cuda::DeviceLoaded&>(x);
  }

  template <typename T>
  void host_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                 std::span<const MatrixView<T>> outputs) const {
    const TileSlot slot(shared_->tiles);
    std::vector<EngineMatrix> matrices;
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      matrices.push_back(algebra_.allocate(rows.size(), cols.size(), precision_of<T>));
    }
    fill(recipe, x1, rows, x2, cols, false, matrices, [](Index) {});
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      cuda::fetch(*device_, cuda::array_of(matrices[s], *device_), outputs[s]);
    }
  }

  std::shared_ptr<OpenDevice> shared_;
  std::shared_ptr<Device> device_;
  const Algebra& algebra_;
  int threads_;
};

class Cuda final : public LayeredEngine, public ConeEngine {
 public:
  Cuda(const std::shared_ptr<OpenDevice>& shared, std::string name, int threads)
      : device_(shared->device),
        name_(std::move(name)),
        threads_(team_size(threads)),
        algebra_(device_),
        kernels_(shared, algebra_, threads_),
        cones_(device_),
        layers_{{device_, &device_->single_layers()},
                {device_, &device_->double_layers()},
                {device_, &device_->enclosures()}} {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override { return facts_text(device_->facts()); }
  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] const Kernels& kernels() const override { return kernels_; }
  [[nodiscard]] const Algebra& algebra() const override { return algebra_; }
  [[nodiscard]] const Cones& cones() const override { return cones_; }
  [[nodiscard]] const EngineLayers& layers() const override { return layers_; }

 private:
  std::shared_ptr<Device> device_;
  std::string name_;
  int threads_;
  cuda::CudaAlgebra algebra_;
  CudaKernels kernels_;
  cuda::CudaCones cones_;
  EngineLayers layers_;  ///< share the device
};

/// Returns the number of devices, or 0 with the reason in `reason`.
int count_devices(std::string& reason) {
  const cuda::LoadedPlugin& loaded = cuda::loaded_plugin();
  reason = loaded.obstacle;
  return loaded.plugin != nullptr ? loaded.plugin->count(reason) : 0;
}

/// Opens each device once per process, so that all its engines can exchange matrices.
std::shared_ptr<OpenDevice> open_device(int device) {
  static std::mutex guard;
  static std::map<int, std::weak_ptr<OpenDevice>> opened;
  const std::lock_guard lock(guard);
  std::shared_ptr<OpenDevice> shared = opened[device].lock();
  if (!shared) {
    shared = std::make_shared<OpenDevice>(cuda::loaded_plugin().plugin->open(device));
    opened[device] = shared;
  }
  return shared;
}

}  // namespace

std::string cuda::host_only_activation(const Recipe& recipe) {
  for (const Step& step : recipe.steps) {
    if (step.op != Op::dual || step.dual.phi != Phi::custom) continue;
    return fmt::format("the activation '{}' is user-defined or composed of several; only cpu and reference evaluate it",
                       recipe.functions[usize(step.dual.function)]->name());
  }
  return {};
}

void cuda::require_digits(Precision arithmetic, std::span<const Array> outputs) {
  if (arithmetic == Precision::f32 && outputs.front().precision == Precision::f64) {
    fail(Code::usage, "samples loaded for float32 have no kernel in float64");
  }
}

std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<Device> device, std::string name, int threads) {
  return std::make_unique<Cuda>(std::make_shared<OpenDevice>(std::move(device)), std::move(name), threads);
}

std::unique_ptr<Engine> make_cuda_engine(int device, int threads) {
  std::string reason;
  const int count = count_devices(reason);
  if (count == 0) fail(Code::usage, "back end cuda:{} is absent: {}; use the back end cpu", device, reason);
  if (device >= count) {
    fail(Code::usage, "back end cuda:{} is absent: this machine has {} CUDA device{}, counted from 0", device, count,
         count == 1 ? "" : "s");
  }
  if (const std::string old = refusal(cuda::loaded_plugin().plugin->facts(device)); !old.empty()) {
    fail(Code::usage, "back end cuda:{} is absent: {}; use the back end cpu", device, old);
  }
  return std::make_unique<Cuda>(open_device(device), fmt::format("cuda:{}", device), threads);
}

EnginePresence cuda_presence() {
  std::string reason;
  const int count = count_devices(reason);
  if (count == 0) return {"cuda", false, reason};
  std::vector<DeviceFacts> devices;
  for (int device = 0; device < count; ++device) devices.push_back(cuda::loaded_plugin().plugin->facts(device));
  return cuda_presence(devices);
}

EnginePresence cuda_presence(std::span<const DeviceFacts> devices) {
  EnginePresence result{"cuda", false, {}};
  for (std::size_t device = 0; device < devices.size(); ++device) {
    const std::string old = refusal(devices[device]);
    result.present |= old.empty();
    result.detail += fmt::format("{}cuda:{} {}", device > 0 ? "; " : "", device,
                                 old.empty() ? facts_text(devices[device]) : "is absent: " + old);
  }
  return result;
}

bool cuda_is_likely() {
  std::error_code error;
  return std::filesystem::exists("/dev/nvidiactl", error) && !cuda::plugin_file().empty();
}

}  // namespace widelimit
