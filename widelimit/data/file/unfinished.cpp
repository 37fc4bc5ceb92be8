#include "widelimit/data/file/unfinished.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace widelimit {

namespace {

/// Signal handlers must not allocate or lock, so there is a fixed number of slots. More files are never written at
/// once; a file without a slot is left behind if a signal ends the program.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> filled{false};
  std::array<char, PATH_MAX> name{};
};
std::array<Slot, 16> slots;
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

Unfinished::Unfinished(const std::filesystem::path& path) {
  // Absolute, since the process may change its folder.
  std::error_code unknown;
  const std::filesystem::path absolute = std::filesystem::absolute(path, unknown);
  if (unknown || absolute.native().size() >= PATH_MAX) return;
  for (std::size_t k = 0; k < slots.size() && !slot_; ++k) {
    if (slots[k].taken.exchange(true)) continue;
    std::memcpy(slots[k].name.data(), absolute.c_str(), absolute.native().size() + 1);
    slots[k].filled = true;
    slot_ = k;
  }
}

Unfinished::~Unfinished() {
  if (!slot_) return;
  slots[*slot_].filled = false;
  slots[*slot_].taken = false;
}

void remove_unfinished() noexcept {
  for (const Slot& slot : slots) {
    if (slot.filled) ::unlink(slot.name.data());
  }
}

}  // namespace widelimit
