#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/engine/engine.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace widelimit {

/// Row-major matrix in device memory.
struct DeviceView {
  void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Precision precision = Precision::f64;
};

/// Device memory in bytes.
struct MemoryUse {
  std::size_t free = 0;   ///< still available to the engine
  std::size_t taken = 0;  ///< allocated by the engine
  std::size_t total = 0;
};

/// Additional operations of an algebra with device memory: matrices shared with other libraries of the process, and
/// memory accounting.
class DeviceMatrices {
 public:
  virtual ~DeviceMatrices() = default;

  /// Wraps a matrix of another library without a copy. The matrix is never written to; `owner` is kept until the last
  /// handle is destroyed. Waits for all work on the device, because it may still be filling the matrix. Throws
  /// Error{input} if the device cannot access it or rows overlap.
  [[nodiscard]] virtual EngineMatrix adopt(const DeviceView& foreign, std::shared_ptr<const void> owner) const = 0;
  /// Returns the location of a matrix after all work on it is done; valid while a handle exists.
  [[nodiscard]] virtual DeviceView device_view(const EngineMatrix& a) const = 0;
  /// Waits for all work of this process on the device: other libraries write to lent matrices and may still be reading
  /// them when they return them.
  virtual void synchronize() const = 0;

  [[nodiscard]] virtual MemoryUse memory_use() const = 0;
  /// Device memory for the tiles in flight, each rows × columns = edge², including the scratch buffers of the engine.
  [[nodiscard]] virtual std::size_t tile_bytes(Index edge, Index outputs, Precision precision) const = 0;
  /// Limits the total memory of the engine. The lowest of several ceilings counts; they may be removed in any order.
  virtual void add_ceiling(std::size_t bytes) const = 0;
  virtual void remove_ceiling(std::size_t bytes) const = 0;
};

/// Returns null if the engine works in host memory.
[[nodiscard]] const DeviceMatrices* device_matrices(const Engine& engine);

/// As require_memory (widelimit/base/memory.hpp), for matrices of `engine`, in the memory of its device or of the host.
void require_matrix_memory(const Engine& engine, double bytes, std::optional<std::size_t> limit, std::string_view what,
                           std::string_view advice,
                           std::vector<Remedy> remedies = {Remedy::fewer_samples, Remedy::single_precision,
                                                           Remedy::more_memory});

/// While it exists, work on the device of `engine`, if there is one, may allocate at most `bytes` more. Limits of
/// several threads may overlap.
class DeviceMemoryLimit {
 public:
  DeviceMemoryLimit(const Engine& engine, std::optional<std::size_t> bytes);
  DeviceMemoryLimit(const DeviceMemoryLimit&) = delete;
  DeviceMemoryLimit& operator=(const DeviceMemoryLimit&) = delete;
  ~DeviceMemoryLimit();

 private:
  const DeviceMatrices* limited_ = nullptr;
  std::size_t ceiling_ = 0;
};

}  // namespace widelimit
