#pragma once

#include "widelimit/base/types.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

namespace widelimit::cuda {

/// Rows of bytes with a constant pitch.
struct Rows {
  char* data = nullptr;
  std::size_t pitch = 0;
};

/// Copies between host and device. For pageable memory, the driver copies with one thread at a fifth of the bus
/// bandwidth. Long copies therefore go through pinned buffers, filled by several threads while the previous piece is
/// transferred.
class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  /// Both are synchronous.
  void up(const Rows& host, const Rows& device, std::size_t width, Index rows, cudaStream_t stream);
  void down(const Rows& device, const Rows& host, std::size_t width, Index rows, cudaStream_t stream);

 private:
  struct Piece {
    char* memory = nullptr;
    cudaEvent_t moved = nullptr;
  };
  /// Returns the rows of a piece, or 0 if a plain copy is used.
  [[nodiscard]] Index piece_rows(std::size_t width, Index rows);

  std::array<Piece, 2> pieces_;
};

}  // namespace widelimit::cuda
