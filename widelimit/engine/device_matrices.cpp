#include "widelimit/engine/device_matrices.hpp"

#include "widelimit/base/memory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace widelimit {

const DeviceMatrices* device_matrices(const Engine& engine) {
  return dynamic_cast<const DeviceMatrices*>(&engine.algebra());
}

void require_matrix_memory(const Engine& engine, double bytes, std::optional<std::size_t> limit, std::string_view what,
                           std::string_view advice, std::vector<Remedy> remedies) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr) return require_memory(bytes, limit, what, advice, std::move(remedies));
  const MemoryUse use = device->memory_use();
  const auto left = static_cast<double>(limit ? std::min(*limit, use.free) : use.free);
  if (bytes <= left) return;
  fail(Code::resource, std::move(remedies), "{} needs about {}, but {} has {} left of {}; {}", what, bytes_text(bytes),
       engine.name(), bytes_text(left), bytes_text(static_cast<double>(use.total)), advice);
}

DeviceMemoryLimit::DeviceMemoryLimit(const Engine& engine, std::optional<std::size_t> bytes)
    : limited_(bytes ? device_matrices(engine) : nullptr) {
  if (limited_ == nullptr) return;
  const std::size_t taken = limited_->memory_use().taken;
  ceiling_ = taken + std::min(*bytes, std::numeric_limits<std::size_t>::max() - taken);
  limited_->add_ceiling(ceiling_);
}

DeviceMemoryLimit::~DeviceMemoryLimit() {
  if (limited_ != nullptr) limited_->remove_ceiling(ceiling_);
}

}  // namespace widelimit
