#pragma once

#include "widelimit/engine/cuda/array.hpp"

#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <vector>

namespace widelimit::cuda {

/// Copies of matrices to the host beside all other work of the device: each thread that fetches has a stream that waits
/// for no other, and two pieces of pinned memory, of which one is filled while the host copies the other.
class FetchLanes {
 public:
  FetchLanes();
  ~FetchLanes();
  FetchLanes(const FetchLanes&) = delete;
  FetchLanes& operator=(const FetchLanes&) = delete;

  /// Of one precision; nothing may be writing to `from`. On the current device.
  void fetch(const Array& from, const HostArray& to);

 private:
  class Lane;
  [[nodiscard]] std::unique_ptr<Lane> take();
  void give(std::unique_ptr<Lane> lane);

  std::mutex guard_;
  std::vector<std::unique_ptr<Lane>> free_;
};

}  // namespace widelimit::cuda
