#include "widelimit/machine/gram/product.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/factor/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index product_strip = 256;

void multiply_rows(MatrixView<const double> k, MatrixView<const double> v, MatrixView<double> out) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, lapack_size(k.rows), lapack_size(v.cols), lapack_size(k.cols),
              1.0, k.data, lapack_size(k.stride), v.data, lapack_size(v.stride), 0.0, out.data,
              lapack_size(out.stride));
}

void multiply_in_strips(MatrixView<const float> k, MatrixView<const double> v, MatrixView<double> out) {
  Matrix<double> rows(std::min(product_strip, k.rows), k.cols, Content::unset);
  for (Index begin = 0; begin < k.rows; begin += product_strip) {
    const Index count = std::min(product_strip, k.rows - begin);
    for (Index i = 0; i < count; ++i) std::copy_n(k.row(begin + i), k.cols, rows.view().row(i));
    multiply_rows(rows.view().block(0, 0, count, k.cols), v, out.block(begin, 0, count, out.cols));
  }
}

}  // namespace

void multiply(const AnyView& k, MatrixView<const double> v, MatrixView<double> out) {
  if (v.cols == 0) return;
  if (const auto* twice = std::get_if<MatrixView<const double>>(&k)) {
    multiply_rows(*twice, v, out);
  } else {
    multiply_in_strips(std::get<MatrixView<const float>>(k), v, out);
  }
}

void check_targets(MatrixView<const double> targets, Index samples) {
  if (targets.rows != samples) {
    fail(Code::input, "there are targets for {} samples, but the Gram matrix has {}", targets.rows, samples);
  }
  if (targets.cols == 0) fail(Code::input, "the targets have no column; give at least one output");
  for (Index i = 0; i < targets.rows; ++i) {
    const double* row = targets.row(i);
    const double* bad = std::find_if(row, row + targets.cols, [](double value) { return !std::isfinite(value); });
    if (bad != row + targets.cols) fail(Code::input, "target {} of sample {} is {}", bad - row, i, *bad);
  }
}

}  // namespace widelimit
