#include "widelimit/base/matrix.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace widelimit {

namespace {

constexpr std::size_t vector_alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t large = 4 * huge_page;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Mapped with one huge page to spare, then trimmed on both sides to a huge-page boundary.
void* map_pages(std::size_t bytes) {
  const std::size_t length = round_up(bytes, huge_page);
  void* mapped = mmap(nullptr, length + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const first = static_cast<unsigned char*>(mapped);
  const std::size_t head =
      round_up(reinterpret_cast<std::uintptr_t>(first), huge_page) - reinterpret_cast<std::uintptr_t>(first);
  if (head > 0) munmap(first, head);
  if (head < huge_page) munmap(first + head + length, huge_page - head);
  madvise(first + head, length, MADV_HUGEPAGE);  // advice only: failure costs speed, nothing else
  return first + head;
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  if (bytes < large) {
    memory = std::aligned_alloc(vector_alignment, round_up(bytes, vector_alignment));
    if (memory != nullptr) std::memset(memory, 0, bytes);
  } else if (bytes < SIZE_MAX / 2) {
    memory = map_pages(bytes);
  }
  if (memory == nullptr) {
    fail(Code::resource, "cannot allocate {:.1f} GiB; use fewer samples or --precision f32",
         static_cast<double>(bytes) / static_cast<double>(std::size_t{1} << 30));
  }
  return memory;
}

void release_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < large) {
    std::free(memory);
  } else {
    munmap(memory, round_up(bytes, huge_page));
  }
}

}  // namespace widelimit
