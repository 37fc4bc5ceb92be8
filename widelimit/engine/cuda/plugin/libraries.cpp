#include "widelimit/engine/cuda/plugin/libraries.hpp"

#include "widelimit/base/error.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace widelimit::cuda {

namespace {

/// A library of the CUDA toolkit. Tries all file names (one per version) on the search path of the loader, in CUDA_HOME
/// and in the default folder of the toolkit.
class Library {
 public:
  Library(const char* name, const std::vector<std::string>& files) : name_(name) {
    std::vector<std::string> folders{""};
    if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/lib64/");
    folders.emplace_back("/usr/local/cuda/lib64/");
    std::string reason;
    for (const std::string& folder : folders) {
      for (const std::string& file : files) {
        handle_ = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) return;
        if (const char* message = dlerror(); message != nullptr && reason.empty()) reason = message;
      }
    }
    fail(Code::usage,
         "{} of CUDA was not found ({}); install the libraries of the CUDA toolkit, or add their folder to "
         "LD_LIBRARY_PATH",
         name, reason);
  }

  template <typename Routine>
  void find(const char* symbol, Routine& routine) const {
    routine = reinterpret_cast<Routine>(dlsym(handle_, symbol));
    if (routine == nullptr) {
      fail(Code::usage, "{} has no routine {}; install CUDA 12 or later", name_, symbol);
    }
  }

 private:
  const char* name_;
  void* handle_ = nullptr;
};

Blas load_blas() {
  const Library library("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  Blas blas;
  library.find("cublasCreate_v2", blas.create);
  library.find("cublasDestroy_v2", blas.destroy);
  library.find("cublasSetStream_v2", blas.set_stream);
  library.find("cublasSgemm_v2_64", blas.sgemm);
  library.find("cublasDgemm_v2_64", blas.dgemm);
  library.find("cublasGemmEx_64", blas.gemm_of);
  library.find("cublasSgemmStridedBatched_64", blas.sgemm_repeated);
  library.find("cublasDgemmStridedBatched_64", blas.dgemm_repeated);
  library.find("cublasSgemv_v2_64", blas.sgemv);
  library.find("cublasDgemv_v2_64", blas.dgemv);
  library.find("cublasSsyrk_v2_64", blas.ssyrk);
  library.find("cublasDsyrk_v2_64", blas.dsyrk);
  library.find("cublasStrsm_v2_64", blas.strsm);
  library.find("cublasDtrsm_v2_64", blas.dtrsm);
  library.find("cublasStrmm_v2_64", blas.strmm);
  library.find("cublasDtrmm_v2_64", blas.dtrmm);
  library.find("cublasStrsv_v2_64", blas.strsv);
  library.find("cublasDtrsv_v2_64", blas.dtrsv);
  return blas;
}

Solver load_solver() {
  const Library library("cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"});
  Solver solver;
  library.find("cusolverDnCreate", solver.create);
  library.find("cusolverDnDestroy", solver.destroy);
  library.find("cusolverDnSetStream", solver.set_stream);
  library.find("cusolverDnCreateParams", solver.create_params);
  library.find("cusolverDnDestroyParams", solver.destroy_params);
  library.find("cusolverDnXpotrf_bufferSize", solver.potrf_size);
  library.find("cusolverDnXpotrf", solver.potrf);
  library.find("cusolverDnXsyevd_bufferSize", solver.syevd_size);
  library.find("cusolverDnXsyevd", solver.syevd);
  library.find("cusolverDnDsytrf_bufferSize", solver.sytrf_size);
  library.find("cusolverDnDsytrf", solver.sytrf);
  return solver;
}

}  // namespace

const Blas& blas() {
  static const Blas loaded = load_blas();
  return loaded;
}

const Solver& solver() {
  static const Solver loaded = load_solver();
  return loaded;
}

void check(cublasStatus_t status, const char* routine) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    throw Error(Code::resource, fmt::format("cuBLAS cannot allocate device memory for {}", routine),
                {Remedy::fewer_samples, Remedy::single_precision});
  }
  fail(Code::resource, "{} of cuBLAS failed with status {}", routine, static_cast<int>(status));
}

void check(cusolverStatus_t status, const char* routine) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) {
    throw Error(Code::resource, fmt::format("cuSOLVER cannot allocate device memory for {}", routine),
                {Remedy::fewer_samples, Remedy::single_precision});
  }
  fail(Code::resource, "{} of cuSOLVER failed with status {}", routine, static_cast<int>(status));
}

}  // namespace widelimit::cuda
