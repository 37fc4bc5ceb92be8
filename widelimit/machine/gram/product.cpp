#include "widelimit/machine/gram/product.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index product_strip = 256;

/// Strips of rows in float64, each by one thread.
void multiply_in_strips(MatrixView<const float> k, MatrixView<const double> v, MatrixView<double> out) {
  parallel_for((k.rows + product_strip - 1) / product_strip, cpu::algebra_team(), [&](Index strip) {
    const Index begin = strip * product_strip;
    const Index count = std::min(product_strip, k.rows - begin);
    Matrix<double> rows(count, k.cols, Content::unset);
    for (Index i = 0; i < count; ++i) std::copy_n(k.row(begin + i), k.cols, rows.view().row(i));
    cpu::gemm<double>(1, Transpose::no, rows.view(), Transpose::no, v, 0, out.block(begin, 0, count, out.cols));
  });
}

}  // namespace

void multiply(const AnyView& k, MatrixView<const double> v, MatrixView<double> out) {
  if (const auto* twice = std::get_if<MatrixView<const double>>(&k)) {
    cpu::tiled_product<double>(1, Transpose::no, *twice, Transpose::no, v, 0, out);
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
