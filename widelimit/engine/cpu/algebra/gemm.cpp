#include "widelimit/engine/cpu/algebra/gemm.hpp"

#include <cblas.h>

namespace widelimit::cpu {

namespace {

blasint narrow(Index size) { return static_cast<blasint>(size); }

bool is_empty(Index m, Index n) { return m == 0 || n == 0; }

}  // namespace

void multiply_transposed(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  if (is_empty(c.rows, c.cols)) return;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, narrow(c.rows), narrow(c.cols), narrow(a.cols), 1.0F, a.data,
              narrow(a.stride), b.data, narrow(b.stride), 0.0F, c.data, narrow(c.stride));
}

void multiply_transposed(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  if (is_empty(c.rows, c.cols)) return;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, narrow(c.rows), narrow(c.cols), narrow(a.cols), 1.0, a.data,
              narrow(a.stride), b.data, narrow(b.stride), 0.0, c.data, narrow(c.stride));
}

void multiply_by_itself(MatrixView<const float> a, MatrixView<float> c) {
  if (is_empty(c.rows, a.cols)) return;
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasNoTrans, narrow(c.rows), narrow(a.cols), 1.0F, a.data, narrow(a.stride),
              0.0F, c.data, narrow(c.stride));
}

void multiply_by_itself(MatrixView<const double> a, MatrixView<double> c) {
  if (is_empty(c.rows, a.cols)) return;
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, narrow(c.rows), narrow(a.cols), 1.0, a.data, narrow(a.stride),
              0.0, c.data, narrow(c.stride));
}

void multiply(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  if (is_empty(c.rows, c.cols)) return;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, narrow(c.rows), narrow(c.cols), narrow(a.cols), 1.0, a.data,
              narrow(a.stride), b.data, narrow(b.stride), 0.0, c.data, narrow(c.stride));
}

}  // namespace widelimit::cpu
