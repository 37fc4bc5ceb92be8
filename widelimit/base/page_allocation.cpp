#include "widelimit/base/page_allocation.hpp"

#include "widelimit/base/error.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace widelimit {

namespace {

constexpr std::size_t vector_alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
/// Below this size malloc caches released memory (its largest mmap threshold); from this size on, pages are mapped
/// directly.
constexpr std::size_t large = 16 * huge_page;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Returns the number of bytes from `memory` to the next huge-page boundary.
std::size_t up_to_huge_page(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return round_up(address, huge_page) - address;
}

/// Maps one extra huge page and trims both sides to huge-page boundaries.
void* map_pages(std::size_t length) {
  void* mapped = mmap(nullptr, length + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const first = static_cast<unsigned char*>(mapped);
  const std::size_t head = up_to_huge_page(first);
  if (head > 0) munmap(first, head);
  if (head < huge_page) munmap(first + head + length, huge_page - head);
  madvise(first + head, length, MADV_HUGEPAGE);  // only a hint: failure affects speed only
  return first + head;
}

struct Block {
  void* memory = nullptr;
  std::size_t length = 0;
};

/// The most recently released large block. Never destroyed, since matrices with static lifetime can be released after
/// it.
class KeptBlock {
 public:
  /// Returns the cached block if its length is `length`; otherwise unmaps it and returns null.
  void* take(std::size_t length) {
    const Block block = exchange({});
    if (block.length == length) return block.memory;
    unmap(block);
    return nullptr;
  }
  void put(Block block) noexcept {
    madvise(block.memory, block.length, MADV_FREE);
    unmap(exchange(block));
  }

 private:
  Block exchange(Block block) noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(block_, block);
  }
  static void unmap(Block block) noexcept {
    if (block.memory != nullptr) munmap(block.memory, block.length);
  }

  std::mutex mutex_;
  Block block_;
};

KeptBlock& kept_block() {
  static auto* const kept = new KeptBlock;
  return *kept;
}

}  // namespace

void* allocate_pages(std::size_t bytes, Content content) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  if (bytes < large) {
    memory = std::aligned_alloc(vector_alignment, round_up(bytes, vector_alignment));
    if (memory != nullptr && content == Content::zero) std::memset(memory, 0, bytes);
  } else if (bytes < SIZE_MAX / 2) {
    const std::size_t length = round_up(bytes, huge_page);
    memory = kept_block().take(content == Content::unset ? length : 0);
    if (memory == nullptr) memory = map_pages(length);
  }
  if (memory == nullptr) {
    fail(Code::resource, "cannot allocate {:.1f} GiB; use fewer samples or precision f32",
         static_cast<double>(bytes) / static_cast<double>(std::size_t{1} << 30));
  }
  return memory;
}

void release_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < large) {
    std::free(memory);
  } else {
    kept_block().put({memory, round_up(bytes, huge_page)});
  }
}

void clear_pages(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  auto* const first = static_cast<unsigned char*>(memory);
  const std::size_t head = up_to_huge_page(first);
  const std::size_t inside = bytes > head ? (bytes - head) / huge_page * huge_page : 0;
  if (inside == 0 || madvise(first + head, inside, MADV_DONTNEED) != 0) {
    std::memset(first, 0, bytes);
    return;
  }
  std::memset(first, 0, head);
  std::memset(first + head + inside, 0, bytes - head - inside);
}

}  // namespace widelimit
