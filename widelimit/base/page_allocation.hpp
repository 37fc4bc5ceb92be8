#pragma once

#include <cstddef>
#include <cstdint>

namespace widelimit {

/// Whether memory must be zero, or is written whole before it is read.
enum class Content : std::uint8_t { zero, unset };

/// Memory for `bytes`, aligned for vectors and, when large, for the system's huge pages: first touch of a fresh Gram
/// matrix otherwise costs more than its arithmetic. Large memory is zero without being touched.
/// Throws Error{resource}.
[[nodiscard]] void* allocate_pages(std::size_t bytes, Content content);

/// Gives memory back. The large block that was released last is kept for the next large allocation, which takes it
/// where the size is the same and content does not matter, and returns it to the system otherwise; until then the
/// system may take its pages when memory is short. A program that makes one Gram after the other so pays for fresh
/// pages once, and never holds more than without it.
void release_pages(void* memory, std::size_t bytes) noexcept;

/// Makes memory from allocate_pages, or a part of it, zero; pages in the inside of a large part go back to the system.
void clear_pages(void* memory, std::size_t bytes);

}  // namespace widelimit
