#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/engine/engine.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace widelimit {

/// Where the entries of a matrix lie in the memory of a device, row by row.
struct DeviceView {
  void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Precision precision = Precision::f64;
};

/// Memory of a device in bytes.
struct DeviceRoom {
  std::size_t free = 0;   ///< that may still be taken
  std::size_t taken = 0;  ///< by the engine
  std::size_t total = 0;
};

/// What the algebra of an engine with memory of its own offers besides: matrices that it shares with other libraries of
/// the process, and an account of its memory.
class DeviceMatrices {
 public:
  virtual ~DeviceMatrices() = default;

  /// A matrix of another library where it lies. It is never written to, and `owner` is kept until the last handle is
  /// gone. Waits for all work on the device, which may still be filling it. Error{input} where the device cannot reach
  /// it or rows overlap.
  [[nodiscard]] virtual EngineMatrix adopt(const DeviceView& foreign, std::shared_ptr<const void> owner) const = 0;
  /// Where a matrix lies, all work on it done. It lives as long as a handle does.
  [[nodiscard]] virtual DeviceView lend(const EngineMatrix& a) const = 0;
  /// Waits for all work of this process on the device: others write to what was lent, and may still be reading it when
  /// they give it back.
  virtual void settle() const = 0;

  [[nodiscard]] virtual DeviceRoom room() const = 0;
  /// Device memory for the tiles, rows × columns of edge², that are under way at once, with what the engine needs
  /// beside them.
  [[nodiscard]] virtual std::size_t tile_bytes(Index edge, Index outputs, Precision precision) const = 0;
  /// From now on the engine takes at most so many bytes in all; returns what held before.
  virtual std::size_t set_ceiling(std::size_t bytes) const = 0;
};

/// Nothing where the engine works in host memory.
[[nodiscard]] const DeviceMatrices* device_matrices(const Engine& engine);

/// As require_memory (widelimit/base/memory.hpp), for matrices of `engine`: they lie in the memory of its device, or in
/// that of the host.
void require_matrix_memory(const Engine& engine, double bytes, std::optional<std::size_t> limit, std::string_view what,
                           std::string_view advice,
                           std::vector<Remedy> remedies = {Remedy::fewer_samples, Remedy::single_precision,
                                                           Remedy::more_memory});

/// While it lives, work on the device of `engine`, where that has one, may take `bytes` more of its memory.
class DeviceMemoryLimit {
 public:
  DeviceMemoryLimit(const Engine& engine, std::optional<std::size_t> bytes);
  DeviceMemoryLimit(const DeviceMemoryLimit&) = delete;
  DeviceMemoryLimit& operator=(const DeviceMemoryLimit&) = delete;
  ~DeviceMemoryLimit();

 private:
  const DeviceMatrices* limited_ = nullptr;
  std::size_t before_ = 0;
};

}  // namespace widelimit
