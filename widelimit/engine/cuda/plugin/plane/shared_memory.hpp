#pragma once

#include <cuda_runtime_api.h>

namespace widelimit::cuda {

/// Shared memory of a block, with some left for what is static.
inline int most_shared() {
  int device = 0;
  int bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes - 1024;
}

/// Lets a kernel use this much.
template <typename Kernel>
void allow_shared(Kernel kernel, int bytes) {
  cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

}  // namespace widelimit::cuda
