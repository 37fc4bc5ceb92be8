#include "widelimit/engine/device_matrices.hpp"

#include <algorithm>
#include <limits>

namespace widelimit {

const DeviceMatrices* device_matrices(const Engine& engine) {
  return dynamic_cast<const DeviceMatrices*>(&engine.algebra());
}

DeviceMemoryLimit::DeviceMemoryLimit(const Engine& engine, std::optional<std::size_t> bytes)
    : limited_(bytes ? device_matrices(engine) : nullptr) {
  if (limited_ == nullptr) return;
  const std::size_t taken = limited_->room().taken;
  const std::size_t ceiling = taken + std::min(*bytes, std::numeric_limits<std::size_t>::max() - taken);
  before_ = limited_->set_ceiling(ceiling);
  if (before_ < ceiling) limited_->set_ceiling(before_);
}

DeviceMemoryLimit::~DeviceMemoryLimit() {
  if (limited_ != nullptr) limited_->set_ceiling(before_);
}

}  // namespace widelimit
