#include "widelimit/engine/cuda/plugin/plane/plane_stage_launch.hpp"
#include "widelimit/engine/cuda/plugin/plane/register_plane.cuh"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

namespace widelimit::cuda {

namespace {

constexpr int packed_warps = 16;

/// The planes that share the registers of a warp: groups of lanes hold different displacements of the same pair.
template <int Height, int Width>
struct PackedLane {
  static constexpr int planes = plane_places / (Height * Width);  ///< planes per warp
  int y, x;                                                       ///< first row and column of the lane in its plane
  int dy, dx;                                                     ///< displacement of the plane

  __device__ explicit PackedLane(int frame) {
    const int lane = threadIdx.x % 32;
    const int row = lane / 8 * plane_rows;
    const int col = lane % 8 * plane_cols;
    y = row % Height;
    x = col % Width;
    const int plane = frame * planes + row / Height * (plane_side / Width) + col / Width;
    dy = plane / Width;
    dx = plane % Width;
  }
  [[nodiscard]] __device__ int first(int i) const { return (y + i) * Width + x; }
  [[nodiscard]] __device__ int second(int i, int k) const {
    return (y + i + dy) % Height * Width + (x + k + dx) % Width;
  }
};

template <typename Lane>
__device__ void open_inputs(const PlaneStageCall& call, const float* first, const float* second, const Lane& lane,
                            RegisterPlane& plane) {
  clear(plane);
  for (int c = 0; c < call.input_channels; ++c) {
#pragma unroll
    for (int i = 0; i < plane_rows; ++i) {
#pragma unroll
      for (int k = 0; k < plane_cols; ++k) {
        plane.state[0][i][k] +=
            first[(lane.first(i) + k) * call.input_channels + c] * second[lane.second(i, k) * call.input_channels + c];
      }
    }
  }
}

/// Reads the plane from the three parts that pool_register_planes computes.
template <int Height, int Width, typename Lane>
__device__ void open_parts(const PlaneStageCall& call, int pair, const Lane& lane, RegisterPlane& plane) {
  constexpr std::int64_t size = std::int64_t{2} * Height * Height * Width;
  const auto* from = static_cast<const float*>(call.from) + pair * 2 * size * (2 * Width);
  const float* const parts[3] = {from + 2 * size * (2 * lane.dx), from + 2 * size * (2 * lane.dx + 1),
                                 from + 2 * size * ((2 * lane.dx - 1 + 2 * Width) % (2 * Width)) + size};
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int i = 0; i < plane_rows; ++i) {
      const int at = (m * Height + lane.dy) * Height * Width + lane.first(i);
      const float4 a = *reinterpret_cast<const float4*>(parts[0] + at);
      const float4 b = *reinterpret_cast<const float4*>(parts[1] + at);
      const float4 c = *reinterpret_cast<const float4*>(parts[2] + at);
      plane.state[m][i][0] = a.x + b.x + c.x;
      plane.state[m][i][1] = a.y + b.y + c.y;
      plane.state[m][i][2] = a.z + b.z + c.z;
      plane.state[m][i][3] = a.w + b.w + c.w;
    }
  }
}

/// Returns element (p, q) pooled from the planes of the previous stage, for any window. Not inlined, to save registers.
__device__ __noinline__ float pooled_of(const PlaneStageCall& call, const float* from, int p, int q) {
  const PlaneExtent size = call.pool_size;
  const int height = call.fine.height;
  const int width = call.fine.width;
  const int top = p / call.begin.width * call.pool_strides.height - call.pool_offset.height;
  const int left = p % call.begin.width * call.pool_strides.width - call.pool_offset.width;
  const int below = q / call.begin.width * call.pool_strides.height - call.pool_offset.height;
  const int beside = q % call.begin.width * call.pool_strides.width - call.pool_offset.width;
  float sum = 0;
  for (int y = max(top, 0); y < min(top + size.height, height); ++y) {
    for (int v = max(below, 0); v < min(below + size.height, height); ++v) {
      const int down = v < y ? v - y + height : v - y;
      for (int x = max(left, 0); x < min(left + size.width, width); ++x) {
        for (int u = max(beside, 0); u < min(beside + size.width, width); ++u) {
          const int across = u < x ? u - x + width : u - x;
          sum += from[static_cast<std::int64_t>(down * width + across) * height * width + y * width + x];
        }
      }
    }
  }
  return sum;
}

template <typename Lane>
__device__ void open_pooled(const PlaneStageCall& call, int pair, const Lane& lane, RegisterPlane& plane) {
  clear(plane);
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    if (m >= call.source_arrays) break;
    const auto* from = static_cast<const float*>(call.from) +
                       (static_cast<std::int64_t>(pair) * call.source_arrays + m) * kept_size(call.fine);
#pragma unroll
    for (int i = 0; i < plane_rows; ++i) {
#pragma unroll
      for (int k = 0; k < plane_cols; ++k) {
        plane.state[m][i][k] = pooled_of(call, from, lane.first(i) + k, lane.second(i, k));
      }
    }
  }
}

/// One block per pair of images; its warps process the planes.
template <int Height, int Width, bool Signed>
__global__ void __launch_bounds__(32 * packed_warps, 1)
    run_packed(const __grid_constant__ PlaneStageCall call, const PackedStack stack,
               const RectifierConstants constants) {
  using Lane = PackedLane<Height, Width>;
  constexpr int places = Height * Width;
  constexpr int frames = places / Lane::planes;
  extern __shared__ float4 memory[];
  __shared__ double parts[2][packed_warps];
  const int pair = blockIdx.x;
  const auto* first = static_cast<const float*>(call.first) + call.pairs[pair].first * call.record_size;
  const auto* second = static_cast<const float*>(call.second) + call.pairs[pair].second * call.record_size;
  // Deviations of the first image, then those of the second, rotated by every horizontal displacement.
  auto* tables = reinterpret_cast<float*>(memory);
  float* rotated = tables + stack.layers * places;
  for (int k = threadIdx.x; k < stack.layers * places; k += blockDim.x) {
    tables[k] = first[stack.tables + k];
    const float value = second[stack.tables + k];
    const int x = k % Width;
    for (int dx = 0; dx < Width; ++dx) rotated[dx * stack.layers * places + k - x + (x - dx + Width) % Width] = value;
  }
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 < 2) parts[threadIdx.x % 32][warp] = 0;
  __syncthreads();
  const float opening = static_cast<float>(call.source_scale) *
                        (call.source_numbers < 0 ? 1.0F : first[call.source_numbers] * second[call.source_numbers]);
  const float closing = first[stack.factor] * second[stack.factor];
  for (int frame = warp; frame < frames; frame += static_cast<int>(blockDim.x / 32)) {
    const Lane lane(frame);
    PlaneLinks links;
#pragma unroll
    for (int i = 0; i <= plane_rows; ++i) links.above[i] = link_of(lane.y + i, Height, lane.dy);
#pragma unroll
    for (int k = 0; k <= plane_cols; ++k) links.left[k] = link_of(lane.x + k, Width, lane.dx);
    RegisterPlane plane;
    if (call.source == PlaneSource::inputs) {
      open_inputs(call, first, second, lane, plane);
    } else if (call.source == PlaneSource::parts) {
      open_parts<Height, Width>(call, pair, lane, plane);
    } else {
      open_pooled(call, pair, lane, plane);
    }
    scale(opening, plane);
    const auto offset = [&](int i) { return (lane.y + i + lane.dy) % Height * (Width / 4); };
    const auto* p = reinterpret_cast<const float4*>(tables + lane.first(0));
    const auto* q = reinterpret_cast<const float4*>(rotated + lane.dx * stack.layers * places + lane.x);
    for (int layer = 0; layer < stack.layers; ++layer) {
      const float trained = (stack.trained >> layer) & 1U ? 1.0F : 0.0F;
      bend_plane<Signed, Pairing::none, Pairing::none, Width / 4>(constants, links, p + layer * places / 4,
                                                                  q + layer * places / 4, offset, trained, plane);
    }
    scale(closing, plane);
    if (call.sink == PlaneSink::sums) {
      const float sigma = sum_of(plane.state[0]);
      const float theta = sum_of(plane.state[1]);
      if (threadIdx.x % 32 < 2) {
        parts[threadIdx.x % 32][warp] += static_cast<double>(threadIdx.x % 32 == 0 ? sigma : theta);
      }
    } else {
      const int arrays = 1 + call.channels;
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        if (m >= arrays) break;
        auto* to = static_cast<float*>(call.to) + (static_cast<std::int64_t>(pair) * arrays + m) * places * places +
                   (lane.dy * Width + lane.dx) * places;
#pragma unroll
        for (int i = 0; i < plane_rows; ++i) {
          *reinterpret_cast<float4*>(to + lane.first(i)) =
              make_float4(plane.state[m][i][0], plane.state[m][i][1], plane.state[m][i][2], plane.state[m][i][3]);
        }
      }
    }
  }
  if (call.sink != PlaneSink::sums) return;
  __syncthreads();
  if (threadIdx.x <= call.channels) {
    double sum = 0;
    for (int w = 0; w < static_cast<int>(blockDim.x / 32); ++w) sum += parts[threadIdx.x][w];
    static_cast<double*>(call.to)[static_cast<std::int64_t>(pair) * (1 + call.channels) + threadIdx.x] = sum;
  }
}

template <int Height, int Width>
void launch(const PlaneStageCall& call, const PackedStack& stack, cudaStream_t stream) {
  constexpr int places = Height * Width;
  const int bytes = packed_bytes(stack.layers, {Height, Width});
  const auto kernel = stack.is_signed ? run_packed<Height, Width, true> : run_packed<Height, Width, false>;
  allow_shared(kernel, bytes);
  constexpr int warps = places * places / plane_places < packed_warps ? places * places / plane_places : packed_warps;
  kernel<<<call.pair_count, 32 * warps, bytes, stream>>>(call, stack, constants_of(static_cast<double>(stack.slope)));
}

}  // namespace

void run_packed_stage(const PlaneStageCall& call, const PackedStack& stack, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  call.begin.height == 16 ? launch<16, 16>(call, stack, on) : launch<8, 8>(call, stack, on);
}

}  // namespace widelimit::cuda
