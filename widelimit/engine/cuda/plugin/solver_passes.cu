#include "widelimit/engine/cuda/plugin/launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int threads = 256;
constexpr int staged_rows = 128;  ///< rows of v in shared memory
constexpr int entries_ahead = 4;  ///< entries of k prefetched during multiplication

unsigned blocks_for(Index count) { return static_cast<unsigned>((count + threads - 1) / threads); }

/// Adds value to high + low by TwoSum.
__device__ void add_exactly(double value, double& high, double& low) {
  const double sum = __dadd_rn(high, value);
  const double part = __dsub_rn(sum, high);
  const double rounding = __dadd_rn(__dsub_rn(high, __dsub_rn(sum, part)), __dsub_rn(value, part));
  low = __dadd_rn(low, rounding);
  high = sum;
}

/// Adds factor·entry to high + low by TwoProduct and TwoSum (Ogita, Rump and Oishi 2005).
__device__ void add_product(double factor, double entry, double& high, double& low) {
  const double product = __dmul_rn(factor, entry);
  add_exactly(product, high, low);
  low = __dadd_rn(low, fma(factor, entry, -product));
}

/// Multiplies C columns of v with a segment of the rows of k; one thread per row of the result, so that each row of k
/// is read with coalesced accesses, and once for all C columns.
template <int C, typename T>
__global__ void __launch_bounds__(threads)
    precise_kernel(const T* __restrict__ k, Index n, Index stride, const double* __restrict__ v, Index v_stride,
                   Index columns, double* partial) {
  __shared__ double staged[staged_rows * C];
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Index place = i < n ? i : n - 1;
  const Index segment = blockIdx.y;
  const Index first = static_cast<Index>(blockIdx.z) * C;
  const Index end = (segment + 1) * n / precise_segments;
  double high[C] = {};
  double low[C] = {};
  const auto add = [&](int row, T entry) {
#pragma unroll
    for (int c = 0; c < C; ++c) add_product(staged[row * C + c], static_cast<double>(entry), high[c], low[c]);
  };
  for (Index begin = segment * n / precise_segments; begin < end; begin += staged_rows) {
    const int count = static_cast<int>(end - begin < staged_rows ? end - begin : staged_rows);
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < count * C; e += threads) {
      staged[e] = first + e % C < columns ? v[(begin + e / C) * v_stride + first + e % C] : 0.0;
    }
    __syncthreads();
    const T* from = k + begin * stride + place;
    int j = 0;
    for (; j + entries_ahead <= count; j += entries_ahead) {
      T entries[entries_ahead];
#pragma unroll
      for (int a = 0; a < entries_ahead; ++a, from += stride) entries[a] = *from;
#pragma unroll
      for (int a = 0; a < entries_ahead; ++a) add(j + a, entries[a]);
    }
    for (; j < count; ++j, from += stride) add(j, *from);
  }
  if (i >= n) return;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (first + c >= columns) continue;
    double* const out = partial + ((segment * columns + first + c) * n + i) * 2;
    out[0] = high[c];
    out[1] = low[c];
  }
}

template <int C>
void start_precise(const Array& k, const Array& v, double* partial, cudaStream_t stream) {
  const dim3 grid(blocks_for(k.rows), static_cast<unsigned>(precise_segments),
                  static_cast<unsigned>((v.cols + C - 1) / C));
  const auto* const factors = static_cast<const double*>(v.data);
  const auto start = [&](const auto* entries) {
    precise_kernel<C><<<grid, threads, 0, stream>>>(entries, k.rows, k.stride, factors, v.stride, v.cols, partial);
  };
  if (k.precision == Precision::f32) {
    start(static_cast<const float*>(k.data));
  } else {
    start(static_cast<const double*>(k.data));
  }
}

__global__ void precise_sum_kernel(Index n, Index columns, const double* partial, double* out, Index out_stride) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Index c = blockIdx.y;
  if (i >= n) return;
  double high = 0;
  double low = 0;
  for (Index segment = 0; segment < precise_segments; ++segment) {
    const double* const part = partial + ((segment * columns + c) * n + i) * 2;
    add_exactly(part[0], high, low);
    low += part[1];
  }
  out[i * out_stride + c] = high + low;
}

/// Adds the squares of column j − 1 to `taken`, the part already subtracted from the diagonal, and finds the largest
/// remaining diagonal entry. Runs as a single block.
__global__ void find_pivot(const double* a, Index n, Index stride, Index begin, Index j, double least, double* taken,
                           PivotState* state) {
  __shared__ double best[1024];
  __shared__ Index place[1024];
  if (state->stopped) return;
  double own = -1;
  Index at = j;
  for (Index i = j + threadIdx.x; i < n; i += blockDim.x) {
    double gone = j > begin ? taken[i] : 0.0;
    if (j > begin) gone += a[i * stride + j - 1] * a[i * stride + j - 1];
    taken[i] = gone;
    const double left = a[i * stride + i] - gone;
    if (left > own) {
      own = left;
      at = i;
    }
  }
  best[threadIdx.x] = own;
  place[threadIdx.x] = at;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const double other = best[threadIdx.x + half];
      const Index there = place[threadIdx.x + half];
      if (other > best[threadIdx.x] || (other == best[threadIdx.x] && there < place[threadIdx.x])) {
        best[threadIdx.x] = other;
        place[threadIdx.x] = there;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  state->left = best[0];
  state->pivot = place[0];
  state->stopped = !(best[0] > least);
  if (!state->stopped) ++state->found;
}

__device__ void exchange_entries(double& x, double& y) {
  const double kept = x;
  x = y;
  y = kept;
}

/// Exchanges row and column j with those of the pivot; only the lower triangle is stored.
__global__ void exchange_pivot(double* a, Index n, Index stride, Index j, Index* order, double* taken,
                               const PivotState* state) {
  if (state->stopped || state->pivot == j) return;
  const Index k = state->pivot;
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i < j) exchange_entries(a[j * stride + i], a[k * stride + i]);
  if (i > j && i < k) exchange_entries(a[i * stride + j], a[k * stride + i]);
  if (i > k) exchange_entries(a[i * stride + j], a[i * stride + k]);
  if (i != j) return;
  exchange_entries(a[j * stride + j], a[k * stride + k]);
  exchange_entries(taken[j], taken[k]);
  const Index kept = order[j];
  order[j] = order[k];
  order[k] = kept;
}

/// Subtracts from column j its products with previous columns of the block, and divides it by the root of the pivot.
__global__ void pivot_column(double* a, Index n, Index stride, Index begin, Index j, const PivotState* state) {
  if (state->stopped) return;
  const Index i = j + static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double root = sqrt(state->left);
  if (i == j) {
    a[j * stride + j] = root;
    return;
  }
  double entry = a[i * stride + j];
  for (Index k = begin; k < j; ++k) entry = fma(-a[i * stride + k], a[j * stride + k], entry);
  a[i * stride + j] = entry / root;
}

}  // namespace

cudaError_t launch_precise(const Array& k, const Array& v, const Array& out, double* partial, cudaStream_t stream) {
  if (k.rows == 0 || v.cols == 0) return cudaSuccess;
  if (v.cols == 1) {
    start_precise<1>(k, v, partial, stream);
  } else {
    start_precise<10>(k, v, partial, stream);  // limited by registers
  }
  precise_sum_kernel<<<dim3(blocks_for(k.rows), static_cast<unsigned>(v.cols)), threads, 0, stream>>>(
      k.rows, v.cols, partial, static_cast<double*>(out.data), out.stride);
  return cudaGetLastError();
}

cudaError_t launch_pivot(const Array& a, Index begin, Index j, double least, Index* order, double* taken,
                         PivotState* state, cudaStream_t stream) {
  auto* const entries = static_cast<double*>(a.data);
  find_pivot<<<1, 1024, 0, stream>>>(entries, a.rows, a.stride, begin, j, least, taken, state);
  exchange_pivot<<<blocks_for(a.rows), threads, 0, stream>>>(entries, a.rows, a.stride, j, order, taken, state);
  pivot_column<<<blocks_for(a.rows - j), threads, 0, stream>>>(entries, a.rows, a.stride, begin, j, state);
  return cudaGetLastError();
}

}  // namespace widelimit::cuda
