#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

namespace widelimit::cuda {

/// Function pointers to the cuBLAS routines that the plug-in calls, with the types of the headers.
struct Blas {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSgemm_v2_64) sgemm = nullptr;
  decltype(&cublasDgemm_v2_64) dgemm = nullptr;
  decltype(&cublasGemmEx_64) gemm_of = nullptr;  ///< mixed types
  decltype(&cublasSgemmStridedBatched_64) sgemm_repeated = nullptr;
  decltype(&cublasDgemmStridedBatched_64) dgemm_repeated = nullptr;
  decltype(&cublasSgemv_v2_64) sgemv = nullptr;
  decltype(&cublasDgemv_v2_64) dgemv = nullptr;
  decltype(&cublasSsyrk_v2_64) ssyrk = nullptr;
  decltype(&cublasDsyrk_v2_64) dsyrk = nullptr;
  decltype(&cublasStrsm_v2_64) strsm = nullptr;
  decltype(&cublasDtrsm_v2_64) dtrsm = nullptr;
  decltype(&cublasStrmm_v2_64) strmm = nullptr;
  decltype(&cublasDtrmm_v2_64) dtrmm = nullptr;
  decltype(&cublasStrsv_v2_64) strsv = nullptr;
  decltype(&cublasDtrsv_v2_64) dtrsv = nullptr;
};

struct Solver {
  decltype(&cusolverDnCreate) create = nullptr;
  decltype(&cusolverDnDestroy) destroy = nullptr;
  decltype(&cusolverDnSetStream) set_stream = nullptr;
  decltype(&cusolverDnCreateParams) create_params = nullptr;
  decltype(&cusolverDnDestroyParams) destroy_params = nullptr;
  decltype(&cusolverDnXpotrf_bufferSize) potrf_size = nullptr;
  decltype(&cusolverDnXpotrf) potrf = nullptr;
  decltype(&cusolverDnXsyevd_bufferSize) syevd_size = nullptr;
  decltype(&cusolverDnXsyevd) syevd = nullptr;
  decltype(&cusolverDnDsytrf_bufferSize) sytrf_size = nullptr;
  decltype(&cusolverDnDsytrf) sytrf = nullptr;
};

/// Loads the library on first use and keeps it. Throws Error{usage} if the library or one of its routines is missing.
[[nodiscard]] const Blas& blas();
[[nodiscard]] const Solver& solver();

void check(cublasStatus_t status, const char* routine);
void check(cusolverStatus_t status, const char* routine);

}  // namespace widelimit::cuda
