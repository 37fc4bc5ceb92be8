#include "widelimit/engine/cuda/plugin/launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int threads = 256;

/// One block per row; rows beyond the samples are set to 0.
__global__ void __launch_bounds__(threads) digits_kernel(const double* unit, Index samples, Index d, DigitRows to) {
  __shared__ double largest[threads];
  const Index row = blockIdx.x;
  const double* const x = unit + row * d;
  double own = 0;
  if (row < samples) {
    for (Index k = threadIdx.x; k < d; k += threads) own = fmax(own, fabs(x[k]));
  }
  largest[threadIdx.x] = own;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) {
      largest[threadIdx.x] = fmax(largest[threadIdx.x], largest[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const double over_unit = largest[0] > 0 ? largest_integer / largest[0] : 0.0;
  if (threadIdx.x == 0 && row < samples) to.unit[row] = largest[0] / largest_integer;
  const Index step = padded_count(d);
  std::int8_t* const forward = to.forward + row * digit_columns(d);
  std::int8_t* const backward = to.backward + row * digit_columns(d);
  for (Index k = threadIdx.x; k < step; k += threads) {
    const Digits digits = row < samples && k < d ? digits_of(x[k], over_unit) : Digits{};
#pragma unroll
    for (Index place = 0; place < digit_count; ++place) {
      forward[place * step + k] = digits.value[place];
      backward[(digit_count - 1 - place) * step + k] = digits.value[place];
    }
  }
}

}  // namespace

cudaError_t launch_digits(const Array& unit, const DigitRows& to, cudaStream_t stream) {
  digits_kernel<<<static_cast<unsigned>(digit_rows(unit.rows)), threads, 0, stream>>>(
      static_cast<const double*>(unit.data), unit.rows, unit.cols, to);
  return cudaGetLastError();
}

}  // namespace widelimit::cuda
