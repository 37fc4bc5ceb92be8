#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>
#include <optional>

namespace widelimit::python {

/// A matrix in the memory of an engine, as Python holds it; copies share it.
class DeviceArray {
 public:
  /// `engine` lives as long as the module; `owner` keeps what the matrix borrows.
  DeviceArray(EngineMatrix matrix, const Engine& engine, std::shared_ptr<const void> owner = {});

  [[nodiscard]] const EngineMatrix& matrix() const;
  /// The matrix, after all work on the device has ended: another library may have written to it.
  [[nodiscard]] const EngineMatrix& settled() const;
  [[nodiscard]] const Engine& engine() const;
  /// The same engine with so many threads of the host.
  [[nodiscard]] const Engine& engine(std::optional<int> threads) const;

 private:
  class Held;
  std::shared_ptr<const Held> held_;
};

}  // namespace widelimit::python
