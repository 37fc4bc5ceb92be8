#include "bench/openblas.hpp"

#include "widelimit/base/error.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <omp.h>

namespace widelimit::bench::openblas {

namespace {

/// Loads OpenBLAS from its path at build time, else from the system.
void* load() {
  void* const found = dlopen(WIDELIMIT_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
  return found != nullptr ? found : dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
}

template <typename Routine>
Routine* routine(const char* name) {
  static void* const library = load();
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) fail(Code::resource, "OpenBLAS has no {} ({})", name, WIDELIMIT_OPENBLAS);
  return reinterpret_cast<Routine*>(found);
}

int size(Index n) { return static_cast<int>(n); }

}  // namespace

void use_threads(int threads) { omp_set_num_threads(threads); }

void syrk(MatrixView<const float> a, MatrixView<float> c) {
  static auto* const call = routine<decltype(cblas_ssyrk)>("cblas_ssyrk");
  call(CblasRowMajor, CblasUpper, CblasNoTrans, size(a.rows), size(a.cols), 1.0F, a.data, size(a.stride), 0.0F, c.data,
       size(c.stride));
}

void syrk(MatrixView<const double> a, MatrixView<double> c) {
  static auto* const call = routine<decltype(cblas_dsyrk)>("cblas_dsyrk");
  call(CblasRowMajor, CblasUpper, CblasNoTrans, size(a.rows), size(a.cols), 1.0, a.data, size(a.stride), 0.0, c.data,
       size(c.stride));
}

void gemm(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  static auto* const call = routine<decltype(cblas_sgemm)>("cblas_sgemm");
  call(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(c.rows), size(c.cols), size(a.cols), 1.0F, a.data,
       size(a.stride), b.data, size(b.stride), 0.0F, c.data, size(c.stride));
}

void potrf(MatrixView<double> a) {
  using Potrf = void(const char*, const int*, double*, const int*, int*);
  static auto* const call = routine<Potrf>("dpotrf_");
  const int n = size(a.rows), stride = size(a.stride);
  int info = 0;
  call("L", &n, a.data, &stride, &info);
  if (info != 0) fail(Code::numerical, "leading minor of order {} is not positive", info);
}

}  // namespace widelimit::bench::openblas
