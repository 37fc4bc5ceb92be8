#pragma once

#include "widelimit/base/types.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

namespace widelimit::cuda {

/// Rows of bytes at equal distances.
struct Rows {
  char* data = nullptr;
  std::size_t pitch = 0;
};

/// Copies between host and device. The driver copies through memory of its own with one thread, which reaches a fifth
/// of what the bus does: long copies go through pinned memory here, filled by several threads while the piece before is
/// on its way.
class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  /// Finished when they return.
  void up(const Rows& host, const Rows& device, std::size_t width, Index rows, cudaStream_t stream);
  void down(const Rows& device, const Rows& host, std::size_t width, Index rows, cudaStream_t stream);

 private:
  struct Piece {
    char* memory = nullptr;
    cudaEvent_t moved = nullptr;
  };
  /// Rows of a piece, or 0 where a plain copy serves as well.
  [[nodiscard]] Index piece_rows(std::size_t width, Index rows);

  std::array<Piece, 2> pieces_;
};

}  // namespace widelimit::cuda
