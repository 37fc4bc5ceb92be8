#include "widelimit/engine/cuda/place/place_run.hpp"
#include "widelimit/engine/cuda/plugin/place/place_launch.hpp"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

#include <algorithm>

namespace widelimit::cuda {

namespace {

constexpr int pass_threads = 256;
constexpr int most_team_threads = 512;

/// One block runs all passes on one pair, with its states in shared memory.
template <typename T, int C>
__global__ void __launch_bounds__(most_team_threads)
    run_team(const __grid_constant__ PlaceCall call, std::int32_t begin) {
  extern __shared__ double shared[];
  auto* const memory = reinterpret_cast<char*>(shared);
  const std::int32_t number = begin + static_cast<std::int32_t>(blockIdx.x);
  for (std::int32_t k = 0; k < call.pass_count; ++k) {
    const PlacePass pass = call.passes[k];
    const PlacePair<T> pair = place_pair<T>(call, pass, number, memory);
    for (std::int64_t at = threadIdx.x; at < pair.elements; at += blockDim.x) run_place<T, C>(call, pass, pair, at);
    __syncthreads();
  }
}

/// Runs one pass on all pairs, with their states in global memory.
template <typename T, int C>
__global__ void __launch_bounds__(pass_threads)
    run_all(const __grid_constant__ PlaceCall call, const __grid_constant__ PlacePass pass, std::int32_t begin) {
  const std::int32_t number = begin + static_cast<std::int32_t>(blockIdx.x);
  const PlacePair<T> pair = place_pair<T>(call, pass, number, call.memory + call.memory_at[number]);
  const std::int64_t step = std::int64_t{gridDim.y} * pass_threads;
  for (std::int64_t at = std::int64_t{blockIdx.y} * pass_threads + threadIdx.x; at < pair.elements; at += step) {
    run_place<T, C>(call, pass, pair, at);
  }
}

template <typename Out>
__global__ void write_all(const __grid_constant__ PlaceWrite write, unsigned long long* bad) {
  const std::int64_t each = std::int64_t{write.most_rows} * write.most_cols;
  const std::int64_t work = write.pair_count * each;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < work; k += step) {
    const auto pair = static_cast<std::int32_t>(k / each);
    const std::int64_t entry = k % each;
    const unsigned long long code = write_place<Out>(write, pair, static_cast<std::int32_t>(entry / write.most_cols),
                                                     static_cast<std::int32_t>(entry % write.most_cols));
    if (code != place_in_range) atomicMin(bad, code);
  }
}

template <typename T, int C>
void teams(const PlaceCall& call, std::int32_t begin, std::int32_t end, std::int64_t bytes, cudaStream_t stream) {
  const auto kernel = run_team<T, C>;
  allow_shared(kernel, static_cast<int>(bytes));
  const int threads = bytes <= (1 << 13) ? 64 : bytes <= (1 << 15) ? 128 : bytes <= (1 << 16) ? 256 : most_team_threads;
  kernel<<<static_cast<unsigned>(end - begin), threads, static_cast<std::size_t>(bytes), stream>>>(call, begin);
}

template <typename T, int C>
void pass_of_all(const PlaceCall& call, const PlacePass& pass, std::int32_t begin, std::int32_t end,
                 std::int64_t elements, cudaStream_t stream) {
  const std::int64_t blocks = std::clamp<std::int64_t>((elements + pass_threads - 1) / pass_threads, 1, 4096);
  const dim3 grid(static_cast<unsigned>(end - begin), static_cast<unsigned>(blocks));
  run_all<T, C><<<grid, pass_threads, 0, stream>>>(call, pass, begin);
}

/// Tangent channels per round; more channels take more rounds.
constexpr int many = 4;

}  // namespace

cudaError_t launch_place_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                               std::int64_t bytes, cudaStream_t stream) {
  const bool one = call.channels <= 1;
  if (arithmetic == Precision::f32) {
    one ? teams<float, 1>(call, begin, end, bytes, stream) : teams<float, many>(call, begin, end, bytes, stream);
  } else {
    one ? teams<double, 1>(call, begin, end, bytes, stream) : teams<double, many>(call, begin, end, bytes, stream);
  }
  return cudaGetLastError();
}

cudaError_t launch_place_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                              std::int32_t end, std::int64_t elements, cudaStream_t stream) {
  const bool one = call.channels <= 1;
  if (arithmetic == Precision::f32) {
    one ? pass_of_all<float, 1>(call, pass, begin, end, elements, stream)
        : pass_of_all<float, many>(call, pass, begin, end, elements, stream);
  } else {
    one ? pass_of_all<double, 1>(call, pass, begin, end, elements, stream)
        : pass_of_all<double, many>(call, pass, begin, end, elements, stream);
  }
  return cudaGetLastError();
}

cudaError_t launch_place_write(const PlaceWrite& write, unsigned long long* bad, cudaStream_t stream) {
  const std::int64_t work = std::int64_t{write.pair_count} * write.most_rows * write.most_cols;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>((work + 255) / 256, 1, 1 << 20));
  write.to.precision == Precision::f32 ? write_all<float><<<blocks, 256, 0, stream>>>(write, bad)
                                       : write_all<double><<<blocks, 256, 0, stream>>>(write, bad);
  return cudaGetLastError();
}

}  // namespace widelimit::cuda
