#pragma once

#include "widelimit/engine/cuda/array.hpp"

#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <vector>

namespace widelimit::cuda {

/// Copies of matrices to the host, concurrent with all other work of the device: each fetching thread has a
/// non-blocking stream and two pinned buffers; one is filled while the host copies the other.
class FetchLanes {
 public:
  FetchLanes();
  ~FetchLanes();
  FetchLanes(const FetchLanes&) = delete;
  FetchLanes& operator=(const FetchLanes&) = delete;

  /// Copies on the current device; both sides have the same precision, and no work may write to `from`. Returns false,
  /// without copying, if no host memory can be pinned.
  [[nodiscard]] bool fetch(const Array& from, const HostArray& to);

 private:
  class Lane;
  /// Returns null if no host memory can be pinned.
  [[nodiscard]] std::unique_ptr<Lane> take();
  void give(std::unique_ptr<Lane> lane);

  std::mutex guard_;
  std::vector<std::unique_ptr<Lane>> free_;
};

}  // namespace widelimit::cuda
