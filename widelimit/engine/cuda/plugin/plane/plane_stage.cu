#include "widelimit/engine/cuda/plane/plane_team.hpp"
#include "widelimit/engine/cuda/plugin/plane/plane_stage_launch.hpp"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

#include <algorithm>

namespace widelimit::cuda {

namespace {

constexpr int block_threads = 256;
constexpr int small_plane = 256;  ///< largest number of elements processed by a single warp

/// The order of summation depends only on the size of the plane.
struct WarpTeam {
  __device__ int rank() const { return threadIdx.x % 32; }
  __device__ int size() const { return 32; }
  __device__ void sync() const { __syncwarp(); }
  template <typename T>
  __device__ double sum(const T* values, int count) const {
    double part = 0;
    for (int k = rank(); k < count; k += 32) part += static_cast<double>(values[k]);
    for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(0xffffffffU, part, step);
    return part;
  }
};

struct BlockTeam {
  __device__ int rank() const { return threadIdx.x; }
  __device__ int size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
  template <typename T>
  __device__ double sum(const T* values, int count) const {
    __shared__ double parts[block_threads / 32];
    double part = 0;
    for (int k = rank(); k < count; k += block_threads) part += static_cast<double>(values[k]);
    for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(0xffffffffU, part, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
    __syncthreads();
    double sum = 0;
    for (const double value : parts) sum += value;
    __syncthreads();
    return sum;
  }
};

/// `scratch`: memory of the teams if it does not fit into shared memory, else null.
template <typename T, typename Team>
__global__ void __launch_bounds__(block_threads)
    run_planes(const __grid_constant__ PlaneStageCall call, std::int64_t work, int teams, T* scratch) {
  extern __shared__ double shared[];
  const int team = teams == 1 ? 0 : threadIdx.x / 32;
  const std::int64_t here = std::int64_t{blockIdx.x} * teams + team;
  T* memory =
      scratch != nullptr ? scratch + here * team_memory(call) : reinterpret_cast<T*>(shared) + team * team_memory(call);
  for (std::int64_t k = here; k < work; k += std::int64_t{gridDim.x} * teams) {
    run_plane(call, k, memory, Team());
    Team().sync();
  }
}

template <typename T, typename Team>
void launch(const PlaneStageCall& call, int teams, const StageMemory& memory, cudaStream_t stream) {
  const std::int64_t work = std::int64_t{call.pair_count} * call.dy_count * call.dx_count;
  const std::int64_t bytes = team_memory(call) * teams * static_cast<std::int64_t>(sizeof(T));
  const bool fits = bytes <= most_shared();
  std::int64_t blocks = (work + teams - 1) / teams;
  if (!fits) blocks = std::min(blocks, memory.bytes / bytes);
  const auto kernel = run_planes<T, Team>;
  allow_shared(kernel, static_cast<int>(fits ? bytes : 0));
  kernel<<<static_cast<unsigned>(std::min(blocks, std::int64_t{1} << 24)), block_threads, fits ? bytes : 0, stream>>>(
      call, work, teams, fits ? nullptr : static_cast<T*>(memory.data));
}

/// One thread per pair; `bad`: index of the first pair whose value overflows.
template <typename T>
__global__ void write_values(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
                             T* to, std::int64_t stride, int* bad) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const ImagePair pair = pairs[k];
  if (mirrored && pair.first >= pair.second) return;
  const auto value = static_cast<T>(values[k]);
  if (!isfinite(value)) atomicMin(bad, k);
  const std::int64_t i = pair.first - row;
  const std::int64_t j = pair.second - col;
  to[i * stride + j] = value;
  if (mirrored) to[j * stride + i] = value;
}

}  // namespace

StageScratch stage_scratch(const PlaneStageCall& call, Precision precision) {
  constexpr std::int64_t most_teams = 264;
  const std::int64_t size = precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const std::int64_t bytes = team_memory(call) * size;
  return bytes <= most_shared() ? StageScratch{} : StageScratch{bytes, bytes * most_teams};
}

void run_plane_stage(const PlaneStageCall& call, Precision precision, const StageMemory& memory, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const std::int64_t bytes = team_memory(call) * 8 * block_threads / 32;
  if (call.largest <= small_plane && bytes <= most_shared()) {
    precision == Precision::f32 ? launch<float, WarpTeam>(call, block_threads / 32, memory, on)
                                : launch<double, WarpTeam>(call, block_threads / 32, memory, on);
  } else {
    precision == Precision::f32 ? launch<float, BlockTeam>(call, 1, memory, on)
                                : launch<double, BlockTeam>(call, 1, memory, on);
  }
}

void write_plane_values(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
                        const PlaneOutput& to, int* bad, void* stream) {
  const int blocks = (count + block_threads - 1) / block_threads;
  const auto on = static_cast<cudaStream_t>(stream);
  if (to.precision == Precision::f32) {
    write_values<<<blocks, block_threads, 0, on>>>(values, pairs, count, row, col, mirrored,
                                                   static_cast<float*>(to.data), to.stride, bad);
  } else {
    write_values<<<blocks, block_threads, 0, on>>>(values, pairs, count, row, col, mirrored,
                                                   static_cast<double*>(to.data), to.stride, bad);
  }
}

}  // namespace widelimit::cuda
