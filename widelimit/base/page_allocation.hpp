#pragma once

#include <cstddef>
#include <cstdint>

namespace widelimit {

/// Whether memory must be zero-initialized, or is completely overwritten before it is read.
enum class Content : std::uint8_t { zero, unset };

/// Allocates `bytes`, aligned for SIMD and, if large, to huge pages: page faults of a new Gram matrix can otherwise
/// cost more than its arithmetic. Large blocks are zero without being touched. Throws Error{resource}.
[[nodiscard]] void* allocate_pages(std::size_t bytes, Content content);

/// Releases memory. The most recently released large block is cached for the next large allocation, which reuses it if
/// the size is equal and the content is unset, and unmaps it otherwise. Its pages are marked MADV_FREE, so the system
/// can reclaim them. A sequence of equal Gram matrices thus pays for page faults once, without higher peak memory.
void release_pages(void* memory, std::size_t bytes) noexcept;

/// Zeroes memory from allocate_pages or a part of it; whole huge pages inside a large part are returned to the system.
void clear_pages(void* memory, std::size_t bytes);

}  // namespace widelimit
