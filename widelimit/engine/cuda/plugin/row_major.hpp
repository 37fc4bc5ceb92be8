#pragma once

#include "widelimit/engine/cuda/array.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>

/// Conversion of row-major matrices to the column-major convention of cuBLAS and cuSOLVER.
namespace widelimit::cuda {

[[nodiscard]] inline bool is_single(const Array& a) { return a.precision == Precision::f32; }
[[nodiscard]] inline cudaDataType type_of(const Array& a) { return is_single(a) ? CUDA_R_32F : CUDA_R_64F; }
/// cuBLAS reads a row-major matrix as its transpose.
[[nodiscard]] inline cublasOperation_t same(Transpose op) { return op == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }
[[nodiscard]] inline cublasOperation_t opposite(Transpose op) {
  return op == Transpose::yes ? CUBLAS_OP_N : CUBLAS_OP_T;
}
[[nodiscard]] inline cublasFillMode_t mirrored(Triangle triangle) {
  return triangle == Triangle::upper ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
[[nodiscard]] inline std::int64_t leading(const Array& a) { return std::max<std::int64_t>({1, a.stride, a.cols}); }

/// The same matrix `entries` further in memory.
[[nodiscard]] inline Array moved(const Array& a, Index entries) {
  const std::size_t size = is_single(a) ? sizeof(float) : sizeof(double);
  return {static_cast<char*>(a.data) + usize(entries) * size, a.rows, a.cols, a.stride, a.precision};
}
[[nodiscard]] inline Array part(const Array& a, Index row, Index col, Index rows, Index cols) {
  return {moved(a, row * a.stride + col).data, rows, cols, a.stride, a.precision};
}

}  // namespace widelimit::cuda
