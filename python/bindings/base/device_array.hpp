#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>
#include <optional>

namespace widelimit::python {

/// A matrix in the memory of an engine, held by Python; copies share ownership.
class DeviceArray {
 public:
  /// `engine` must live as long as the module; `owner` keeps the borrowed memory of the matrix alive.
  DeviceArray(EngineMatrix matrix, const Engine& engine, std::shared_ptr<const void> owner = {});

  [[nodiscard]] const EngineMatrix& matrix() const;
  /// Synchronises the device, since another library may have written to the matrix, and returns the matrix.
  [[nodiscard]] const EngineMatrix& synchronized() const;
  [[nodiscard]] const Engine& engine() const;
  /// Returns the same engine with this number of host threads.
  [[nodiscard]] const Engine& engine(std::optional<int> threads) const;

 private:
  class Storage;
  std::shared_ptr<const Storage> storage_;
};

}  // namespace widelimit::python
