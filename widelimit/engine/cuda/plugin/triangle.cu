#include "widelimit/engine/cuda/plugin/launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int threads = 256;
constexpr int edge = static_cast<int>(inverted_edge);

/// Copies the diagonal blocks of a triangle, with zeros in the other half.
template <typename T>
__global__ void copy_squares(bool upper, const T* t, Index stride, T* squares) {
  const Index k = blockIdx.y;
  const Index begin = k * square_rows;
  T* const square = squares + k * square_rows * (square_rows + 1);
  for (Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; e < square_rows * square_rows;
       e += static_cast<Index>(gridDim.x) * blockDim.x) {
    const Index i = e / square_rows;
    const Index j = e % square_rows;
    square[e] = (upper ? j >= i : j <= i) ? t[(begin + i) * stride + begin + j] : T(0);
  }
}

/// Inverts a triangle of 32 rows, one column of the inverse per lane, by back substitution of a unit vector. A lower
/// triangle is handled as the transpose of an upper one.
template <typename T>
__global__ void invert_small(bool upper, const T* squares, T* inverses) {
  __shared__ T u[edge][edge + 1];
  const int lane = static_cast<int>(threadIdx.x);
  const Index first = static_cast<Index>(blockIdx.x) * edge;
  const Index offset = first / square_rows * square_rows * (square_rows + 1) + first % square_rows * (square_rows + 1);
  for (int i = 0; i < edge; ++i) {
    const T entry = squares[offset + i * square_rows + lane];
    if (upper) {
      u[i][lane] = entry;
    } else {
      u[lane][i] = entry;
    }
  }
  __syncwarp();
  T x[edge];
#pragma unroll
  for (int i = edge - 1; i >= 0; --i) {
    T sum = i == lane ? T(1) : T(0);
#pragma unroll
    for (int k = i + 1; k < edge; ++k) sum = fma(-u[i][k], x[k], sum);
    x[i] = i <= lane ? sum / u[i][i] : T(0);
  }
#pragma unroll
  for (int i = 0; i < edge; ++i) inverses[offset + (upper ? i * square_rows + lane : lane * square_rows + i)] = x[i];
}

template <typename T>
cudaError_t launch_squares(Triangle triangle, const Array& t, Index count, T* squares, T* inverses,
                           cudaStream_t stream) {
  const bool upper = triangle == Triangle::upper;
  const cudaError_t cleared = cudaMemsetAsync(
      inverses, 0, static_cast<std::size_t>(count * square_rows * (square_rows + 1)) * sizeof(T), stream);
  if (cleared != cudaSuccess) return cleared;
  copy_squares<<<dim3(64, static_cast<unsigned>(count)), threads, 0, stream>>>(upper, static_cast<const T*>(t.data),
                                                                               t.stride, squares);
  invert_small<<<static_cast<unsigned>(count * square_rows / edge), edge, 0, stream>>>(upper, squares, inverses);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_triangle_squares(Triangle triangle, const Array& t, Index count, float* squares, float* inverses,
                                    cudaStream_t stream) {
  return launch_squares(triangle, t, count, squares, inverses, stream);
}

cudaError_t launch_triangle_squares(Triangle triangle, const Array& t, Index count, double* squares, double* inverses,
                                    cudaStream_t stream) {
  return launch_squares(triangle, t, count, squares, inverses, stream);
}

}  // namespace widelimit::cuda
