#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

extern "C" {
void dpotrf_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void spotrf_(const char* triangle, const int* n, float* a, const int* lda, int* info);
}

namespace widelimit::cpu {

namespace {

int size_of(Index n) { return static_cast<int>(n); }
CBLAS_TRANSPOSE as_cblas(Op op) { return op == Op::plain ? CblasNoTrans : CblasTrans; }

/// BLAS wants a stride of at least 1, also of what is empty.
template <typename T>
int stride_of(MatrixView<T> m) {
  return size_of(std::max<Index>(m.stride, 1));
}

}  // namespace

template <>
void gemm(double alpha, Op op_a, MatrixView<const double> a, Op op_b, MatrixView<const double> b, double beta,
          MatrixView<double> c) {
  const Index inner = op_a == Op::plain ? a.cols : a.rows;
  cblas_dgemm(CblasRowMajor, as_cblas(op_a), as_cblas(op_b), size_of(c.rows), size_of(c.cols), size_of(inner), alpha,
              a.data, stride_of(a), b.data, stride_of(b), beta, c.data, stride_of(c));
}
template <>
void gemm(float alpha, Op op_a, MatrixView<const float> a, Op op_b, MatrixView<const float> b, float beta,
          MatrixView<float> c) {
  const Index inner = op_a == Op::plain ? a.cols : a.rows;
  cblas_sgemm(CblasRowMajor, as_cblas(op_a), as_cblas(op_b), size_of(c.rows), size_of(c.cols), size_of(inner), alpha,
              a.data, stride_of(a), b.data, stride_of(b), beta, c.data, stride_of(c));
}

template <>
void syrk(double alpha, MatrixView<const double> a, double beta, MatrixView<double> c) {
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, size_of(c.rows), size_of(a.rows), alpha, a.data, stride_of(a),
              beta, c.data, stride_of(c));
}
template <>
void syrk(float alpha, MatrixView<const float> a, float beta, MatrixView<float> c) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, size_of(c.rows), size_of(a.rows), alpha, a.data, stride_of(a),
              beta, c.data, stride_of(c));
}

template <>
void trsm(MatrixView<const double> u, Op op, MatrixView<double> b) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0,
              u.data, stride_of(u), b.data, stride_of(b));
}
template <>
void trsm(MatrixView<const float> u, Op op, MatrixView<float> b) {
  cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, as_cblas(op), CblasNonUnit, size_of(b.rows), size_of(b.cols), 1.0F,
              u.data, stride_of(u), b.data, stride_of(b));
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

}  // namespace widelimit::cpu
