#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include "widelimit/engine/cpu/algebra/lapack.hpp"

#include <cblas.h>

#include <algorithm>

namespace widelimit::cpu {

namespace {

int size_of(Index n) { return lapack_size(n); }
CBLAS_TRANSPOSE as_cblas(Transpose op) { return op == Transpose::no ? CblasNoTrans : CblasTrans; }
bool is_empty(const auto& m) { return m.rows == 0 || m.cols == 0; }

/// BLAS requires a stride of at least 1, even for empty matrices.
template <typename T>
int stride_of(MatrixView<T> m) {
  return size_of(std::max<Index>(m.stride, 1));
}

}  // namespace

template <>
void gemm(double alpha, Transpose op_a, MatrixView<const double> a, Transpose op_b, MatrixView<const double> b,
          double beta, MatrixView<double> c) {
  if (is_empty(c)) return;
  const Index inner = op_a == Transpose::no ? a.cols : a.rows;
  cblas_dgemm(CblasRowMajor, as_cblas(op_a), as_cblas(op_b), size_of(c.rows), size_of(c.cols), size_of(inner), alpha,
              a.data, stride_of(a), b.data, stride_of(b), beta, c.data, stride_of(c));
}
template <>
void gemm(float alpha, Transpose op_a, MatrixView<const float> a, Transpose op_b, MatrixView<const float> b, float beta,
          MatrixView<float> c) {
  if (is_empty(c)) return;
  const Index inner = op_a == Transpose::no ? a.cols : a.rows;
  cblas_sgemm(CblasRowMajor, as_cblas(op_a), as_cblas(op_b), size_of(c.rows), size_of(c.cols), size_of(inner), alpha,
              a.data, stride_of(a), b.data, stride_of(b), beta, c.data, stride_of(c));
}

template <>
void gemv(double alpha, Transpose op, MatrixView<const double> a, Strided<const double> x, double beta,
          Strided<double> y) {
  cblas_dgemv(CblasRowMajor, as_cblas(op), size_of(a.rows), size_of(a.cols), alpha, a.data, stride_of(a), x.data,
              size_of(x.stride), beta, y.data, size_of(y.stride));
}
template <>
void gemv(float alpha, Transpose op, MatrixView<const float> a, Strided<const float> x, float beta, Strided<float> y) {
  cblas_sgemv(CblasRowMajor, as_cblas(op), size_of(a.rows), size_of(a.cols), alpha, a.data, stride_of(a), x.data,
              size_of(x.stride), beta, y.data, size_of(y.stride));
}

template <>
void syrk(double alpha, Transpose op, MatrixView<const double> a, double beta, MatrixView<double> c) {
  if (is_empty(c)) return;
  const Index inner = op == Transpose::no ? a.cols : a.rows;
  cblas_dsyrk(CblasRowMajor, CblasUpper, as_cblas(op), size_of(c.rows), size_of(inner), alpha, a.data, stride_of(a),
              beta, c.data, stride_of(c));
}
template <>
void syrk(float alpha, Transpose op, MatrixView<const float> a, float beta, MatrixView<float> c) {
  if (is_empty(c)) return;
  const Index inner = op == Transpose::no ? a.cols : a.rows;
  cblas_ssyrk(CblasRowMajor, CblasUpper, as_cblas(op), size_of(c.rows), size_of(inner), alpha, a.data, stride_of(a),
              beta, c.data, stride_of(c));
}

template <>
void trsm(MatrixView<const double> u, Transpose op, MatrixView<double> b) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0,
              u.data, stride_of(u), b.data, stride_of(b));
}
template <>
void trsm(MatrixView<const float> u, Transpose op, MatrixView<float> b) {
  cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0F,
              u.data, stride_of(u), b.data, stride_of(b));
}

void solve_lower(MatrixView<const double> l, Transpose op, MatrixView<double> b) {
  if (is_empty(b)) return;
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0,
              l.data, stride_of(l), b.data, stride_of(b));
}

void solve_right(MatrixView<const double> u, MatrixView<double> b) {
  if (is_empty(b)) return;
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0,
              u.data, stride_of(u), b.data, stride_of(b));
}

void multiply_lower(MatrixView<const double> l, Transpose op, MatrixView<double> b) {
  if (is_empty(b)) return;
  cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0,
              l.data, stride_of(l), b.data, stride_of(b));
}

void multiply_lower_right(MatrixView<const double> l, Transpose op, MatrixView<double> b) {
  if (is_empty(b)) return;
  cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0,
              l.data, stride_of(l), b.data, stride_of(b));
}

void syr2k(double alpha, MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  if (is_empty(c) || a.rows == 0) return;
  cblas_dsyr2k(CblasRowMajor, CblasUpper, CblasTrans, size_of(c.rows), size_of(a.rows), alpha, a.data, stride_of(a),
               b.data, stride_of(b), 1.0, c.data, stride_of(c));
}

void syrk_lower(double alpha, MatrixView<const double> a, MatrixView<double> c) {
  if (is_empty(c) || a.cols == 0) return;
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, size_of(c.rows), size_of(a.cols), alpha, a.data, stride_of(a),
              1.0, c.data, stride_of(c));
}

void ger(double alpha, std::span<const double> x, std::span<const double> y, MatrixView<double> m) {
  if (is_empty(m)) return;
  cblas_dger(CblasRowMajor, size_of(m.rows), size_of(m.cols), alpha, x.data(), 1, y.data(), 1, m.data, stride_of(m));
}

double dot(std::span<const double> x, std::span<const double> y) {
  return cblas_ddot(size_of(std::ssize(x)), x.data(), 1, y.data(), 1);
}

void axpy(double alpha, std::span<const double> x, std::span<double> y) {
  cblas_daxpy(size_of(std::ssize(x)), alpha, x.data(), 1, y.data(), 1);
}

void rotate(double cosine, double sine, std::span<double> x, std::span<double> y) {
  cblas_drot(size_of(std::ssize(x)), x.data(), 1, y.data(), 1, cosine, sine);
}

double norm(std::span<const double> x) { return cblas_dnrm2(size_of(std::ssize(x)), x.data(), 1); }

void symv(double alpha, MatrixView<const double> m, std::span<const double> x, std::span<double> y) {
  if (is_empty(m)) return;
  cblas_dsymv(CblasRowMajor, CblasUpper, size_of(m.rows), alpha, m.data, stride_of(m), x.data(), 1, 1.0, y.data(), 1);
}

bool tridiagonal_eigenvalues(std::span<double> diagonal, std::span<double> beside) {
  const int n = size_of(std::ssize(diagonal));
  int info = 0;
  dsterf_(&n, diagonal.data(), beside.data(), &info);
  return info == 0;
}

// LAPACK is column-major: the upper triangle of a row-major matrix is its lower one.
template <>
Index potrf(MatrixView<double> a) {
  const int n = size_of(a.rows), stride = stride_of(a);
  int info = 0;
  dpotrf_("L", &n, a.data, &stride, &info);
  return info;
}
template <>
Index potrf(MatrixView<float> a) {
  const int n = size_of(a.rows), stride = stride_of(a);
  int info = 0;
  spotrf_("L", &n, a.data, &stride, &info);
  return info;
}

void potrs(MatrixView<const double> u, double* x, Index columns) {
  const int n = size_of(u.rows), stride = stride_of(u), width = size_of(columns);
  int info = 0;
  dpotrs_("L", &n, &width, u.data, &stride, x, &n, &info);
}

}  // namespace widelimit::cpu
