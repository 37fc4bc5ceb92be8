#pragma once

#include "widelimit/base/error.hpp"

#include <cstddef>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace widelimit::cuda {

/// Accounting of allocated device memory against a limit. Thread-safe.
class MemoryAccount {
 public:
  void add(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(guard_);
    sizes_[memory] = bytes;
    taken_ += bytes;
  }
  void remove(const void* memory) {
    const std::lock_guard lock(guard_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    taken_ -= found->second;
    sizes_.erase(found);
  }
  [[nodiscard]] std::size_t taken() const {
    const std::lock_guard lock(guard_);
    return taken_;
  }
  /// Bytes left below the limit.
  [[nodiscard]] std::size_t left() const {
    const std::lock_guard lock(guard_);
    const std::size_t ceiling = ceilings_.empty() ? std::numeric_limits<std::size_t>::max() : *ceilings_.begin();
    return ceiling > taken_ ? ceiling - taken_ : 0;
  }
  /// The lowest ceiling counts. Ceilings may be removed in any order.
  void add_ceiling(std::size_t bytes) {
    const std::lock_guard lock(guard_);
    ceilings_.insert(bytes);
  }
  void remove_ceiling(std::size_t bytes) {
    const std::lock_guard lock(guard_);
    if (const auto found = ceilings_.find(bytes); found != ceilings_.end()) ceilings_.erase(found);
  }

 private:
  mutable std::mutex guard_;
  std::unordered_map<const void*, std::size_t> sizes_;
  std::size_t taken_ = 0;
  std::multiset<std::size_t> ceilings_;
};

/// "3.50 GiB", or MiB below one GiB.
[[nodiscard]] inline std::string memory_text(std::size_t bytes) {
  const double gigabytes = static_cast<double>(bytes) / 0x1p30;
  return gigabytes >= 1 ? fmt::format("{:.2f} GiB", gigabytes) : fmt::format("{:.3g} MiB", gigabytes * 1024);
}

/// Throws Error{resource}: the device has `free` of `total` bytes free, of which at most `left` may be allocated.
[[noreturn]] inline void refuse_allocation(const std::string& device, std::size_t requested, std::size_t free,
                                           std::size_t left, std::size_t total) {
  const std::string limit = left < free ? fmt::format(", of which the limit leaves {}", memory_text(left)) : "";
  std::vector<Remedy> remedies{Remedy::fewer_samples, Remedy::single_precision};
  if (left < free) remedies.push_back(Remedy::more_memory);
  throw Error(Code::resource,
              fmt::format("{} cannot allocate {}: {} of its {} are free{}", device, memory_text(requested),
                          memory_text(free), memory_text(total), limit),
              std::move(remedies));
}

}  // namespace widelimit::cuda
