#include "widelimit/kernel/block_product.hpp"

namespace widelimit {

namespace {

/// out[to] += op(block)·v[from].
void add_half(const Algebra& algebra, Transpose op, const EngineMatrix& block, MatrixView<const double> v, Range from,
              MatrixView<double> out, Range to) {
  Matrix<double> part(to.size(), v.cols, Content::unset);
  algebra.multiply(op, block, v.block(from.begin, 0, from.size(), v.cols), part.view());
  for (Index i = 0; i < to.size(); ++i) {
    double* row = out.row(to.begin + i);
    for (Index j = 0; j < v.cols; ++j) row[j] += part(i, j);
  }
}

}  // namespace

void add_block_product(const Algebra& algebra, const EngineMatrix& block, Range rows, Range cols,
                       MatrixView<const double> v, MatrixView<double> out) {
  add_half(algebra, Transpose::no, block, v, cols, out, rows);
  if (rows.begin != cols.begin) add_half(algebra, Transpose::yes, block, v, rows, out, cols);
}

}  // namespace widelimit
