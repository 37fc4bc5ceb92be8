#pragma once

#include <cuda_runtime_api.h>

namespace widelimit::cuda {

/// Maximum dynamic shared memory of a block, in bytes; 1 KiB is reserved for static variables.
inline int most_shared() {
  int device = 0;
  int bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes - 1024;
}

/// Allows a kernel to use `bytes` of dynamic shared memory.
template <typename Kernel>
void allow_shared(Kernel kernel, int bytes) {
  cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

}  // namespace widelimit::cuda
