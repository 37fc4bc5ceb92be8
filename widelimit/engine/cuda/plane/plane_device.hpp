#pragma once

#include "widelimit/engine/cuda/plane/plane_stage.hpp"

#include <cstddef>

namespace widelimit::cuda {

/// A matrix that results are written to, in device memory.
struct PlaneOutput {
  void* data = nullptr;
  std::int64_t stride = 0;
  Precision precision = Precision::f64;
};

/// What planes ask of a device. Memory comes from the same heap as the engine's matrices. Launches may return before
/// they are done; copies wait for them.
class PlaneDevice {
 public:
  virtual ~PlaneDevice() = default;
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void upload(const void* from, std::size_t bytes, void* to) = 0;
  virtual void download(const void* from, std::size_t bytes, void* to) = 0;

  // register_stack.hpp
  virtual void trace_images(const RegisterStack& stack, float* records, int count) = 0;
  virtual void sum_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                          int count, double* sums) = 0;
  virtual void sum_equal(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums) = 0;
  virtual void pool_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                           int count, float* parts) = 0;

  // plane_stage.hpp
  virtual void run_stage(const PlaneStageCall& call, Precision arithmetic) = 0;
  virtual void run_packed(const PlaneStageCall& call, const PackedStack& stack) = 0;
  /// Entry (i − row, j − col) of `to` becomes values[k] for pair k = (i, j). Where `mirrored`, only pairs i < j count,
  /// and their mirror images are written too.
  /// Returns the first k whose value is not finite in the precision of `to`, or −1.
  [[nodiscard]] virtual int write(const double* values, const ImagePair* pairs, int count, int row, int col,
                                  bool mirrored, const PlaneOutput& to) = 0;
};

}  // namespace widelimit::cuda
