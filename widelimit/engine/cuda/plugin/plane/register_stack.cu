#include "widelimit/engine/cuda/plugin/plane/register_column.cuh"

namespace widelimit::cuda {

namespace {

template <bool AllSigned, bool Full>
__global__ void __launch_bounds__(32 * warps, 1)
    sum_planes(const RegisterStack stack, const RectifierConstants constants, int resident, const float* first,
               const float* second, const ImagePair* pairs, double* sums) {
  extern __shared__ float4 memory[];
  __shared__ double parts[2][warps];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const ImagePair pair = pairs[blockIdx.x / stack.width];
  if (lane < 2) parts[lane][warp] = 0;
  run_column<AllSigned, Full>(stack, constants, {memory, memory + resident * table_vectors, resident},
                              first + record_place(stack, pair.first), second + record_place(stack, pair.second),
                              blockIdx.x % stack.width, [&](int, bool inside, const RegisterPlane& plane) {
                                const float sigma = sum_of(plane.state[0]);
                                const float theta = sum_of(plane.state[1]);
                                if (inside && lane < 2) {
                                  parts[lane][warp] += static_cast<double>(lane == 0 ? sigma : theta);
                                }
                              });
  __syncthreads();
  if (threadIdx.x < 2) {
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += parts[threadIdx.x][w];
    sums[2 * blockIdx.x + threadIdx.x] = sum;
  }
}

/// One block per image. Deviations are rounded before the next variances are computed from them, so that equal patches
/// stay equal.
__global__ void trace_images(const RegisterStack stack, float* records) {
  __shared__ double variance[plane_places];
  __shared__ double sums[plane_places];
  float* record = records + static_cast<std::size_t>(blockIdx.x) * stack.tables() * plane_places;
  const int k = threadIdx.x;
  const int y = k / plane_side;
  const int x = k % plane_side;
  const bool inside = y < stack.height && x < stack.width;
  double sum = 0;
  for (int c = 0; c < stack.channels; ++c) {
    const auto value = static_cast<double>(record[c * plane_places + k]);
    sum += value * value;
  }
  variance[k] = inside ? sum : 0;
  for (int layer = 0; layer < stack.layers; ++layer) {
    __syncthreads();
    sums[k] =
        variance[k] + (y > 0 ? variance[k - plane_side] : 0) + (y + 1 < plane_side ? variance[k + plane_side] : 0);
    __syncthreads();
    const double all = sums[k] + (x > 0 ? sums[k - 1] : 0) + (x + 1 < plane_side ? sums[k + 1] : 0);
    const float deviation = inside ? static_cast<float>(sqrt(all)) : 0.0F;
    record[(stack.channels + layer) * plane_places + k] = deviation;
    const bool rescales = layer % register_rescale_period == register_rescale_period - 1;
    variance[k] = static_cast<double>(deviation) * static_cast<double>(deviation) * 3.14159265358979323846 *
                  (rescales ? register_rescale : 1.0);
  }
}

}  // namespace

void trace_register_images(const RegisterStack& stack, float* records, int count, void* stream) {
  trace_images<<<count, plane_places, 0, static_cast<cudaStream_t>(stream)>>>(stack, records);
}

void sum_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream) {
  const RectifierConstants constants = constants_of(static_cast<double>(stack.slope));
  const bool full = stack.height == plane_side && stack.width == plane_side;
  const int resident = resident_tables(stack, RegisterReadout::total, most_shared());
  const int bytes = 2 * resident * table_bytes;
  const auto kernel = signed_throughout(stack) ? sum_planes<true, false>
                      : full                   ? sum_planes<false, true>
                                               : sum_planes<false, false>;
  allow_shared(kernel, bytes);
  kernel<<<count * stack.width, 32 * warps, bytes, static_cast<cudaStream_t>(stream)>>>(stack, constants, resident,
                                                                                        first, second, pairs, sums);
}

}  // namespace widelimit::cuda
