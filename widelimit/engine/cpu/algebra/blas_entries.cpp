// The BLAS and LAPACK routines that this library calls, under their own names; each resolves the OpenBLAS symbol at its
// first call. A missing routine causes a link error; add it here.
#include "widelimit/engine/cpu/algebra/blas_library.hpp"

#include <cblas.h>
#include <omp.h>

namespace widelimit {

void choose_blas_kernels() { (void)blas_routine("cblas_dgemm"); }

namespace {

/// RAII guard that makes OpenBLAS single-threaded on the calling thread: otherwise it would split calls by the number
/// of OpenMP threads, which changes the last bits and adds barriers.
class SequentialBlas {
 public:
  SequentialBlas() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~SequentialBlas() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  SequentialBlas(const SequentialBlas&) = delete;
  SequentialBlas& operator=(const SequentialBlas&) = delete;

 private:
  int before_;
};

/// Wrapper of the OpenBLAS symbol `routine`.
template <auto* routine>
class Entry {
 public:
  explicit Entry(const char* name) : found_(reinterpret_cast<decltype(routine)>(blas_routine(name))) {}
  auto operator()(auto... arguments) const {
    prepare_blas_call();
    const SequentialBlas one;
    return found_(arguments...);
  }

 private:
  decltype(routine) found_;
};

template <auto* routine>
const Entry<routine>& entry(const char* name) {
  static const Entry<routine> found(name);
  return found;
}

}  // namespace

}  // namespace widelimit

using widelimit::entry;
using Order = CBLAS_ORDER;
using Op = CBLAS_TRANSPOSE;
using Part = CBLAS_UPLO;
using Side = CBLAS_SIDE;
using Diagonal = CBLAS_DIAG;

extern "C" {

double cblas_ddot(int n, const double* x, int dx, const double* y, int dy) {
  return entry<&cblas_ddot>("cblas_ddot")(n, x, dx, y, dy);
}
double cblas_dnrm2(int n, const double* x, int dx) { return entry<&cblas_dnrm2>("cblas_dnrm2")(n, x, dx); }
void cblas_daxpy(int n, double alpha, const double* x, int dx, double* y, int dy) {
  entry<&cblas_daxpy>("cblas_daxpy")(n, alpha, x, dx, y, dy);
}
void cblas_drot(int n, double* x, int dx, double* y, int dy, double c, double s) {
  entry<&cblas_drot>("cblas_drot")(n, x, dx, y, dy, c, s);
}

void cblas_dgemv(Order order, Op op, int m, int n, double alpha, const double* a, int lda, const double* x, int dx,
                 double beta, double* y, int dy) {
  entry<&cblas_dgemv>("cblas_dgemv")(order, op, m, n, alpha, a, lda, x, dx, beta, y, dy);
}
void cblas_dsymv(Order order, Part part, int n, double alpha, const double* a, int lda, const double* x, int dx,
                 double beta, double* y, int dy) {
  entry<&cblas_dsymv>("cblas_dsymv")(order, part, n, alpha, a, lda, x, dx, beta, y, dy);
}
void cblas_sgemv(Order order, Op op, int m, int n, float alpha, const float* a, int lda, const float* x, int dx,
                 float beta, float* y, int dy) {
  entry<&cblas_sgemv>("cblas_sgemv")(order, op, m, n, alpha, a, lda, x, dx, beta, y, dy);
}
void cblas_dger(Order order, int m, int n, double alpha, const double* x, int dx, const double* y, int dy, double* a,
                int lda) {
  entry<&cblas_dger>("cblas_dger")(order, m, n, alpha, x, dx, y, dy, a, lda);
}

void cblas_dgemm(Order order, Op op_a, Op op_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) {
  entry<&cblas_dgemm>("cblas_dgemm")(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void cblas_sgemm(Order order, Op op_a, Op op_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) {
  entry<&cblas_sgemm>("cblas_sgemm")(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void cblas_dsyrk(Order order, Part part, Op op, int n, int k, double alpha, const double* a, int lda, double beta,
                 double* c, int ldc) {
  entry<&cblas_dsyrk>("cblas_dsyrk")(order, part, op, n, k, alpha, a, lda, beta, c, ldc);
}
void cblas_ssyrk(Order order, Part part, Op op, int n, int k, float alpha, const float* a, int lda, float beta,
                 float* c, int ldc) {
  entry<&cblas_ssyrk>("cblas_ssyrk")(order, part, op, n, k, alpha, a, lda, beta, c, ldc);
}
void cblas_dsyr2k(Order order, Part part, Op op, int n, int k, double alpha, const double* a, int lda, const double* b,
                  int ldb, double beta, double* c, int ldc) {
  entry<&cblas_dsyr2k>("cblas_dsyr2k")(order, part, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void cblas_dtrmm(Order order, Side side, Part part, Op op, Diagonal diagonal, int m, int n, double alpha,
                 const double* a, int lda, double* b, int ldb) {
  entry<&cblas_dtrmm>("cblas_dtrmm")(order, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb);
}
void cblas_dtrsm(Order order, Side side, Part part, Op op, Diagonal diagonal, int m, int n, double alpha,
                 const double* a, int lda, double* b, int ldb) {
  entry<&cblas_dtrsm>("cblas_dtrsm")(order, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb);
}
void cblas_strsm(Order order, Side side, Part part, Op op, Diagonal diagonal, int m, int n, float alpha, const float* a,
                 int lda, float* b, int ldb) {
  entry<&cblas_strsm>("cblas_strsm")(order, side, part, op, diagonal, m, n, alpha, a, lda, b, ldb);
}

// LAPACK with Fortran names; all arguments are passed by address.

void dpotrf_(const char* part, const int* n, double* a, const int* lda, int* info) {
  entry<&dpotrf_>("dpotrf_")(part, n, a, lda, info);
}
void spotrf_(const char* part, const int* n, float* a, const int* lda, int* info) {
  entry<&spotrf_>("spotrf_")(part, n, a, lda, info);
}
void dpotrs_(const char* part, const int* n, const int* columns, const double* a, const int* lda, double* b,
             const int* ldb, int* info) {
  entry<&dpotrs_>("dpotrs_")(part, n, columns, a, lda, b, ldb, info);
}
void dpbtrf_(const char* part, const int* n, const int* band, double* a, const int* lda, int* info) {
  entry<&dpbtrf_>("dpbtrf_")(part, n, band, a, lda, info);
}
void dgeqrt_(const int* m, const int* n, const int* block, double* a, const int* lda, double* t, const int* ldt,
             double* work, int* info) {
  entry<&dgeqrt_>("dgeqrt_")(m, n, block, a, lda, t, ldt, work, info);
}
void dlasyf_(const char* part, const int* n, const int* panel, int* done, double* a, const int* lda, int* pivots,
             double* w, const int* ldw, int* info) {
  entry<&dlasyf_>("dlasyf_")(part, n, panel, done, a, lda, pivots, w, ldw, info);
}
void dsytf2_(const char* part, const int* n, double* a, const int* lda, int* pivots, int* info) {
  entry<&dsytf2_>("dsytf2_")(part, n, a, lda, pivots, info);
}
void dsytrs_(const char* part, const int* n, const int* columns, const double* a, const int* lda, const int* pivots,
             double* b, const int* ldb, int* info) {
  entry<&dsytrs_>("dsytrs_")(part, n, columns, a, lda, pivots, b, ldb, info);
}
void dsterf_(const int* n, double* diagonal, double* beside, int* info) {
  entry<&dsterf_>("dsterf_")(n, diagonal, beside, info);
}
void dlatrd_(const char* part, const int* n, const int* panel, double* a, const int* lda, double* beside,
             double* factors, double* w, const int* ldw) {
  entry<&dlatrd_>("dlatrd_")(part, n, panel, a, lda, beside, factors, w, ldw);
}
void dsytd2_(const char* part, const int* n, double* a, const int* lda, double* diagonal, double* beside,
             double* factors, int* info) {
  entry<&dsytd2_>("dsytd2_")(part, n, a, lda, diagonal, beside, factors, info);
}
void dormtr_(const char* side, const char* part, const char* op, const int* m, const int* n, const double* a,
             const int* lda, const double* factors, double* c, const int* ldc, double* work, const int* work_size,
             int* info) {
  entry<&dormtr_>("dormtr_")(side, part, op, m, n, a, lda, factors, c, ldc, work, work_size, info);
}
void dstedc_(const char* job, const int* n, double* diagonal, double* beside, double* vectors, const int* ldz,
             double* work, const int* work_size, int* integers, const int* integers_size, int* info) {
  entry<&dstedc_>("dstedc_")(job, n, diagonal, beside, vectors, ldz, work, work_size, integers, integers_size, info);
}
void dsbevd_(const char* job, const char* part, const int* n, const int* band, double* a, const int* lda,
             double* values, double* vectors, const int* ldz, double* work, const int* work_size, int* integers,
             const int* integers_size, int* info) {
  entry<&dsbevd_>("dsbevd_")(job, part, n, band, a, lda, values, vectors, ldz, work, work_size, integers, integers_size,
                             info);
}

}  // extern "C"
