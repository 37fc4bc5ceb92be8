#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"
#include "widelimit/engine/cuda/plugin/row_major.hpp"

#include <limits>
#include <vector>

namespace widelimit::cuda {

/// The indices of sytrf have 32 bits. cuSOLVER does not say whether it factors the rows after a pivot that is 0.
bool CudaDevice::ldl(const Array& a, double* diagonal_out, int* pivots) {
  const DeviceLock lock(*this);
  if (a.rows == 0) return true;
  if (a.rows * leading(a) > std::numeric_limits<std::int32_t>::max()) return false;
  const int n = static_cast<int>(a.rows);
  auto* const entries = static_cast<double*>(a.data);
  int length = 0;
  check(solver().sytrf_size(solver_, n, entries, static_cast<int>(leading(a)), &length), "sytrf");
  const Scratch work(*this, usize(length) * sizeof(double));
  const Scratch pivot_list(*this, usize(n) * sizeof(int));
  const Scratch info(*this, sizeof(int));
  // sytrf copies parts of its workspace to the host before it initialises them.
  check(cudaMemsetAsync(work.as<void>(), 0, usize(length) * sizeof(double), stream_), "clearing memory");
  check(cudaMemsetAsync(pivot_list.as<void>(), 0, usize(n) * sizeof(int), stream_), "clearing memory");
  check(solver().sytrf(solver_, CUBLAS_FILL_MODE_LOWER, n, entries, static_cast<int>(leading(a)), pivot_list.as<int>(),
                       work.as<double>(), length, info.as<int>()),
        "sytrf");
  int failed = 0;
  download_bytes(info.as<void>(), sizeof(failed), &failed);
  if (failed < 0) fail(Code::resource, "sytrf of cuSOLVER rejected argument {}", -failed);
  if (failed > 0) return false;
  download_bytes(pivot_list.as<void>(), usize(n) * sizeof(int), pivots);
  diagonal(a, diagonal_out);
  return true;
}

void CudaDevice::eigen(const Array& a, bool vectors, double* values) {
  const DeviceLock lock(*this);
  if (a.rows == 0) return;
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const Scratch found(*this, usize(a.rows) * sizeof(double));
  const Scratch info(*this, sizeof(int));
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check(solver().syevd_size(solver_, params_, mode, CUBLAS_FILL_MODE_LOWER, a.rows, CUDA_R_64F, a.data, leading(a),
                            CUDA_R_64F, found.as<void>(), CUDA_R_64F, &device_bytes, &host_bytes),
        "syevd");
  const Scratch work(*this, device_bytes);
  // Like sytrf, syevd reads uninitialised workspace.
  check(cudaMemsetAsync(work.as<void>(), 0, device_bytes, stream_), "clearing memory");
  std::vector<char> host_work(host_bytes);
  check(solver().syevd(solver_, params_, mode, CUBLAS_FILL_MODE_LOWER, a.rows, CUDA_R_64F, a.data, leading(a),
                       CUDA_R_64F, found.as<void>(), CUDA_R_64F, work.as<void>(), device_bytes, host_work.data(),
                       host_bytes, info.as<int>()),
        "syevd");
  int failed = 0;
  download_bytes(info.as<void>(), sizeof(failed), &failed);
  if (failed < 0) fail(Code::resource, "syevd of cuSOLVER rejected argument {}", -failed);
  if (failed > 0) fail(Code::numerical, "{} eigenvalues of a matrix of {} rows did not converge", failed, a.rows);
  download_bytes(found.as<void>(), usize(a.rows) * sizeof(double), values);
}

Index CudaDevice::pivoted_block(const Array& a, Index begin, Index end, double least, Index* order, double* scratch) {
  const DeviceLock lock(*this);
  const Scratch state_memory(*this, sizeof(PivotState));
  PivotState state;
  upload_bytes(&state, sizeof(state), state_memory.as<void>());
  for (Index j = begin; j < end; ++j) {
    check(launch_pivot(a, begin, j, least, order, scratch, state_memory.as<PivotState>(), stream_), "a pivot");
  }
  download_bytes(state_memory.as<void>(), sizeof(state), &state);
  const Index found = state.found;
  const Index rest = a.rows - begin - found;
  if (found == end - begin && rest > 0) {
    // The lower triangle of a row-major matrix is the upper triangle for cuBLAS.
    const double minus = -1;
    const double one = 1;
    auto* const entries = static_cast<double*>(a.data);
    check(blas().dsyrk(blas_, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, rest, found, &minus,
                       entries + (begin + found) * a.stride + begin, leading(a), &one,
                       entries + (begin + found) * a.stride + begin + found, leading(a)),
          "dsyrk");
  }
  wait();
  return found;
}

}  // namespace widelimit::cuda
