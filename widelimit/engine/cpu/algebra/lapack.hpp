#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/types.hpp"

#include <limits>

// LAPACK routines of OpenBLAS, which ships no header for them. Matrices are column-major: the upper triangle of a
// symmetric row-major matrix is the lower one, "L", for LAPACK.
extern "C" {
void dpotrf_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void spotrf_(const char* triangle, const int* n, float* a, const int* lda, int* info);
void dpotrs_(const char* triangle, const int* n, const int* columns, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
void dlatrd_(const char* triangle, const int* n, const int* panel, double* a, const int* lda, double* beside,
             double* factors, double* w, const int* ldw);
void dsytd2_(const char* triangle, const int* n, double* a, const int* lda, double* diagonal, double* beside,
             double* factors, int* info);
void dormtr_(const char* side, const char* triangle, const char* transposed, const int* m, const int* n,
             const double* a, const int* lda, const double* factors, double* c, const int* ldc, double* work,
             const int* work_size, int* info);
void dstedc_(const char* job, const int* n, double* diagonal, double* beside, double* vectors, const int* ldz,
             double* work, const int* work_size, int* integers, const int* integers_size, int* info);
void dlasyf_(const char* triangle, const int* n, const int* panel, int* done, double* a, const int* lda, int* pivots,
             double* w, const int* ldw, int* info);
void dsytf2_(const char* triangle, const int* n, double* a, const int* lda, int* pivots, int* info);
void dsytrs_(const char* triangle, const int* n, const int* columns, const double* a, const int* lda, const int* pivots,
             double* b, const int* ldb, int* info);
void dsterf_(const int* n, double* diagonal, double* beside, int* info);
void dgeqrt_(const int* m, const int* n, const int* block, double* a, const int* lda, double* t, const int* ldt,
             double* work, int* info);
void dpbtrf_(const char* triangle, const int* n, const int* band, double* a, const int* lda, int* info);
void dsbevd_(const char* job, const char* triangle, const int* n, const int* band, double* a, const int* lda,
             double* values, double* vectors, const int* ldz, double* work, const int* work_size, int* integers,
             const int* integers_size, int* info);
}

namespace widelimit::cpu {

/// Converts a size to int; throws Error{resource} if it exceeds the 32-bit sizes of LAPACK.
[[nodiscard]] inline int lapack_size(Index n) {
  if (n > std::numeric_limits<int>::max() / 8)
    fail(Code::resource, "a matrix of {} rows exceeds the 32-bit sizes of LAPACK; use fewer samples", n);
  return static_cast<int>(n);
}

}  // namespace widelimit::cpu
