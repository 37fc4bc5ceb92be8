#include "widelimit/engine/cuda/plugin/launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int threads = 256;
constexpr int edge = 32;  ///< edge of transposed blocks

unsigned blocks_for(Index count, Index each = threads) { return static_cast<unsigned>((count + each - 1) / each); }

/// Calls f with the typed entries of a matrix.
template <typename F>
cudaError_t with_entries(const Array& a, const F& f) {
  if (a.rows == 0 || a.cols == 0) return cudaSuccess;
  if (a.precision == Precision::f32) {
    f(static_cast<float*>(a.data));
  } else {
    f(static_cast<double*>(a.data));
  }
  return cudaGetLastError();
}

/// Calls f with the typed entries of two matrices.
template <typename F>
cudaError_t with_entries(const Array& a, const Array& b, const F& f) {
  cudaError_t launched = cudaSuccess;
  const cudaError_t error =
      with_entries(a, [&](auto* from) { launched = with_entries(b, [&](auto* to) { f(from, to); }); });
  return launched == cudaSuccess ? error : launched;
}

/// Launch grid over matrix entries: blocks cover all columns, and rows in y with a stride.
struct EntryGrid {
  dim3 grid;
  explicit EntryGrid(const Array& a)
      : grid(blocks_for(a.cols), static_cast<unsigned>(a.rows < 32768 ? a.rows : 32768)) {}
};

template <typename F>
__global__ void each_entry(Index rows, Index cols, F f) {
  const Index j = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= cols) return;
  for (Index i = blockIdx.y; i < rows; i += gridDim.y) f(i, j);
}

template <typename F>
__global__ void each_number(Index count, F f) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

template <typename From, typename To>
struct Convert {
  const From* a;
  Index a_stride;
  To* b;
  Index b_stride;
  __device__ void operator()(Index i, Index j) const { b[i * b_stride + j] = static_cast<To>(a[i * a_stride + j]); }
};

template <typename T>
struct Gather {
  const T* a;
  Index a_stride;
  const Index* rows;
  const Index* cols;
  T* b;
  Index b_stride;
  __device__ void operator()(Index i, Index j) const { b[i * b_stride + j] = a[rows[i] * a_stride + cols[j]]; }
};

template <typename T>
struct ScaleRows {
  const T* a;
  Index a_stride;
  const double* weights;
  T* b;
  Index b_stride;
  __device__ void operator()(Index i, Index j) const {
    b[i * b_stride + j] = static_cast<T>(weights[i] * static_cast<double>(a[i * a_stride + j]));
  }
};

template <typename T>
struct AddTo {
  const T* a;
  Index a_stride;
  double* b;
  Index b_stride;
  __device__ void operator()(Index i, Index j) const {
    b[i * b_stride + j] += static_cast<double>(a[i * a_stride + j]);
  }
};

template <typename T>
struct ClearAbove {
  T* a;
  Index stride;
  __device__ void operator()(Index i, Index j) const {
    if (j > i) a[i * stride + j] = T(0);
  }
};

template <typename T>
struct ReadDiagonal {
  const T* a;
  Index stride;
  double* out;
  __device__ void operator()(Index i) const { out[i] = static_cast<double>(a[i * stride + i]); }
};

template <typename T>
struct AddToDiagonal {
  T* a;
  Index stride;
  const double* shift;
  __device__ void operator()(Index i) const {
    a[i * stride + i] = static_cast<T>(static_cast<double>(a[i * stride + i]) + shift[i]);
  }
};

template <typename T>
__device__ T block_sum(T value) {
  __shared__ T parts[threads];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  const T sum = parts[0];
  __syncthreads();
  return sum;
}

template <typename T>
__global__ void diagonal_roots(const T* a, Index n, Index stride, double* scale) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) scale[i] = sqrt(fabs(static_cast<double>(a[i * stride + i])));
}

/// Compares a block of the upper triangle with its mirror image.
template <typename T>
__global__ void symmetry_kernel(const T* a, Index n, Index stride, double allowed, const double* scale,
                                unsigned long long* found) {
  __shared__ T mirror[edge][edge + 1];
  const Index top = static_cast<Index>(blockIdx.y) * edge;
  const Index left = static_cast<Index>(blockIdx.x) * edge;
  if (left < top) return;
  for (int k = threadIdx.y; k < edge; k += blockDim.y) {
    if (left + k < n && top + threadIdx.x < n) mirror[k][threadIdx.x] = a[(left + k) * stride + top + threadIdx.x];
  }
  __syncthreads();
  const Index j = left + threadIdx.x;
  for (int k = threadIdx.y; k < edge; k += blockDim.y) {
    const Index i = top + k;
    if (i >= n || j >= n || j < i) continue;
    const double difference = static_cast<double>(a[i * stride + j]) - static_cast<double>(mirror[threadIdx.x][k]);
    if (difference == 0) continue;  // inf − inf is NaN: equal infinities count as different
    found[0] = 1;
    if (!(fabs(difference) <= allowed * scale[i] * scale[j])) {
      atomicMin(found + 1, static_cast<unsigned long long>(i * n + j));
    }
  }
}

/// Hashes the bits and the index of an entry (Steele, Lea and Flood 2014), so that sums distinguish matrices.
__device__ std::uint64_t mixed(std::uint64_t bits, std::uint64_t place) {
  std::uint64_t x = bits + (place + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
__device__ std::uint64_t bits_of(float x) { return __float_as_uint(x); }
__device__ std::uint64_t bits_of(double x) { return static_cast<std::uint64_t>(__double_as_longlong(x)); }

template <typename T>
__global__ void checksum_kernel(const T* a, Index cols, Index stride, unsigned long long* sums) {
  const T* const row = a + blockIdx.x * stride;
  unsigned long long sum = 0;
  for (Index j = threadIdx.x; j < cols; j += blockDim.x) {
    sum += mixed(bits_of(row[j]), static_cast<std::uint64_t>(j));
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// One row per block: writes its part of the upper triangle and its absolute sum. Sets the lower part to 0, since
/// cuBLAS, cuSOLVER and copies of the whole matrix may read it.
template <typename T, typename Out>
__global__ void scaled_kernel(const T* k, Index n, Index stride, const double* scale, const double* shift, Out* out,
                              Index out_stride, double* sums) {
  const Index i = blockIdx.x;
  const double own = scale != nullptr ? scale[i] : 1.0;
  const double added = shift != nullptr ? shift[i] : 0.0;
  double sum = 0;
  for (Index j = threadIdx.x; j < n; j += blockDim.x) {
    const double value = own * (scale != nullptr ? scale[j] : 1.0) * static_cast<double>(k[i * stride + j]);
    sum += fabs(value);
    out[i * out_stride + j] = static_cast<Out>(j > i ? value : j == i ? value + added : 0.0);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[i] = sum + fabs(added);
}

/// The two kernels sum |a| over row and column i of the upper triangle, i.e. over row i of the symmetric matrix.
template <typename T>
__global__ void symmetric_sums_kernel(const T* a, Index n, Index stride, double* sums) {
  const Index i = blockIdx.x;
  double sum = 0;
  for (Index j = i + threadIdx.x; j < n; j += blockDim.x) sum += fabs(static_cast<double>(a[i * stride + j]));
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[i] = sum;
}
template <typename T>
__global__ void upper_column_sums_kernel(const T* a, Index n, Index stride, double* sums) {
  const Index j = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= n) return;
  double sum = 0;
  for (Index i = 0; i < j; ++i) sum += fabs(static_cast<double>(a[i * stride + j]));
  sums[j] += sum;
}

template <typename T>
__global__ void column_squares_kernel(const T* a, Index rows, Index cols, Index stride, const double* weights,
                                      double* out) {
  const Index j = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= cols) return;
  double sum = 0;
  for (Index i = 0; i < rows; ++i) {
    const auto x = static_cast<double>(a[i * stride + j]);
    sum += (weights != nullptr ? weights[i] : 1.0) * x * x;
  }
  out[j] = sum;
}

template <typename T>
__global__ void transpose_upper_kernel(T* a, Index n, Index stride) {
  __shared__ T square[edge][edge + 1];
  const Index top = static_cast<Index>(blockIdx.y) * edge;
  const Index left = static_cast<Index>(blockIdx.x) * edge;
  if (left < top) return;
  for (int k = threadIdx.y; k < edge; k += blockDim.y) {
    const Index i = top + k;
    const Index j = left + threadIdx.x;
    if (i < n && j < n) square[k][threadIdx.x] = a[i * stride + j];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < edge; k += blockDim.y) {
    const Index i = top + k;
    const Index j = left + threadIdx.x;
    if (i < n && j < n && j > i) a[i * stride + j] = T(0);
    const Index row = left + k;
    const Index col = top + threadIdx.x;
    if (row < n && col < n && row > col) a[row * stride + col] = square[threadIdx.x][k];
  }
}

}  // namespace

cudaError_t launch_convert(const Array& from, const Array& to, cudaStream_t stream) {
  return with_entries(from, to, [&]<typename From, typename To>(const From* a, To* b) {
    each_entry<<<EntryGrid(to).grid, threads, 0, stream>>>(to.rows, to.cols,
                                                           Convert<From, To>{a, from.stride, b, to.stride});
  });
}

cudaError_t launch_gather(const Array& from, const Index* rows, const Index* cols, const Array& to,
                          cudaStream_t stream) {
  return with_entries(to, [&]<typename T>(T* b) {
    each_entry<<<EntryGrid(to).grid, threads, 0, stream>>>(
        to.rows, to.cols, Gather<T>{static_cast<const T*>(from.data), from.stride, rows, cols, b, to.stride});
  });
}

cudaError_t launch_diagonal(const Array& a, double* out, cudaStream_t stream) {
  return with_entries(a, [&]<typename T>(T* entries) {
    each_number<<<blocks_for(a.rows), threads, 0, stream>>>(a.rows, ReadDiagonal<T>{entries, a.stride, out});
  });
}

cudaError_t launch_symmetry(const Array& a, double allowed, double* scale, unsigned long long* found,
                            cudaStream_t stream) {
  return with_entries(a, [&](const auto* entries) {
    diagonal_roots<<<blocks_for(a.rows), threads, 0, stream>>>(entries, a.rows, a.stride, scale);
    const unsigned squares = blocks_for(a.rows, edge);
    symmetry_kernel<<<dim3(squares, squares), dim3(edge, 8), 0, stream>>>(entries, a.rows, a.stride, allowed, scale,
                                                                          found);
  });
}

cudaError_t launch_checksum(const Array& a, std::uint64_t* sums, cudaStream_t stream) {
  return with_entries(a, [&](const auto* entries) {
    checksum_kernel<<<static_cast<unsigned>(a.rows), threads, 0, stream>>>(entries, a.cols, a.stride,
                                                                           reinterpret_cast<unsigned long long*>(sums));
  });
}

cudaError_t launch_scaled(const Array& k, const double* scale, const double* shift, const Array& out, double* sums,
                          cudaStream_t stream) {
  return with_entries(k, out, [&](const auto* from, auto* to) {
    scaled_kernel<<<static_cast<unsigned>(k.rows), threads, 0, stream>>>(from, k.rows, k.stride, scale, shift, to,
                                                                         out.stride, sums);
  });
}

cudaError_t launch_scale_rows(const Array& from, const double* weights, const Array& to, cudaStream_t stream) {
  return with_entries(to, [&]<typename T>(T* b) {
    each_entry<<<EntryGrid(to).grid, threads, 0, stream>>>(
        to.rows, to.cols, ScaleRows<T>{static_cast<const T*>(from.data), from.stride, weights, b, to.stride});
  });
}

cudaError_t launch_add_to_diagonal(const Array& a, const double* shift, cudaStream_t stream) {
  return with_entries(a, [&]<typename T>(T* entries) {
    each_number<<<blocks_for(a.rows), threads, 0, stream>>>(a.rows, AddToDiagonal<T>{entries, a.stride, shift});
  });
}

cudaError_t launch_symmetric_sums(const Array& a, double* sums, cudaStream_t stream) {
  return with_entries(a, [&](const auto* entries) {
    symmetric_sums_kernel<<<static_cast<unsigned>(a.rows), threads, 0, stream>>>(entries, a.rows, a.stride, sums);
    upper_column_sums_kernel<<<blocks_for(a.rows), threads, 0, stream>>>(entries, a.rows, a.stride, sums);
  });
}

cudaError_t launch_column_squares(const Array& a, const double* weights, double* out, cudaStream_t stream) {
  return with_entries(a, [&](const auto* entries) {
    column_squares_kernel<<<blocks_for(a.cols), threads, 0, stream>>>(entries, a.rows, a.cols, a.stride, weights, out);
  });
}

cudaError_t launch_transpose_upper(const Array& a, cudaStream_t stream) {
  return with_entries(a, [&](auto* entries) {
    const unsigned squares = blocks_for(a.rows, edge);
    transpose_upper_kernel<<<dim3(squares, squares), dim3(edge, 8), 0, stream>>>(entries, a.rows, a.stride);
  });
}

cudaError_t launch_clear_above(const Array& a, cudaStream_t stream) {
  return with_entries(a, [&]<typename T>(T* entries) {
    each_entry<<<EntryGrid(a).grid, threads, 0, stream>>>(a.rows, a.cols, ClearAbove<T>{entries, a.stride});
  });
}

cudaError_t launch_add(const Array& from, const Array& to, cudaStream_t stream) {
  return with_entries(from, [&]<typename T>(T* a) {
    each_entry<<<EntryGrid(to).grid, threads, 0, stream>>>(
        to.rows, to.cols, AddTo<T>{a, from.stride, static_cast<double*>(to.data), to.stride});
  });
}

}  // namespace widelimit::cuda
