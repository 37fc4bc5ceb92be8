#include "widelimit/base/matrix.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace widelimit {

namespace {
constexpr std::size_t vector_alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
}  // namespace

void* allocate_pages(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const bool large = bytes >= 4 * huge_page;
  const std::size_t alignment = large ? huge_page : vector_alignment;
  const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = padded < bytes ? nullptr : std::aligned_alloc(alignment, padded);
  if (memory == nullptr) {
    fail(Code::resource, "cannot allocate {:.1f} GiB; use fewer samples or f32",
         static_cast<double>(bytes) / static_cast<double>(std::size_t{1} << 30));
  }
  if (large) madvise(memory, padded, MADV_HUGEPAGE);  // advice only: failure costs speed, nothing else
  return memory;
}

void release_pages(void* memory) noexcept { std::free(memory); }

}  // namespace widelimit
