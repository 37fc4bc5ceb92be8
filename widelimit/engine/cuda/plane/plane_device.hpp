#pragma once

#include "widelimit/engine/cuda/plane/plane_stage.hpp"

namespace widelimit::cuda {

/// An output matrix in device memory.
struct PlaneOutput {
  void* data = nullptr;
  std::int64_t stride = 0;
  Precision precision = Precision::f64;
};

/// Device operations for planes, beyond memory. Launches may be asynchronous; copies of the device wait for them.
class PlaneDevice {
 public:
  virtual ~PlaneDevice() = default;
  /// Shared memory per block in bytes that the stacks of register_stack.hpp and PackedStack may use; 0 if the device
  /// has no such kernels, in which case all stages use run_stage.
  [[nodiscard]] virtual int register_memory() const = 0;

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
  /// Writes values[k] to entry (i − row, j − col) of `to` for pair k = (i, j). If `mirrored`, writes only pairs i < j,
  /// and their mirror images. Returns the first k whose value is not finite in the precision of `to`, or −1.
  [[nodiscard]] virtual int write(const double* values, const ImagePair* pairs, int count, int row, int col,
                                  bool mirrored, const PlaneOutput& to) = 0;
};

}  // namespace widelimit::cuda
