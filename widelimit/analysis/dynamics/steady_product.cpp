#include "widelimit/analysis/dynamics/steady_product.hpp"

#include "widelimit/base/parallel.hpp"

#include <cblas.h>

#include <algorithm>

namespace widelimit {

namespace {

constexpr Index rows_of_a_block = 256;
constexpr Index least_for_threads = 2048;

}  // namespace

void steady_multiply(const DenseGram& k, const double* factors, double* product, Index columns, int threads) {
  const Index n = k.count();
  const int width = static_cast<int>(columns);
  // Rows are `stride` apart, which a matrix of one row does not determine.
  const int stride = static_cast<int>(n > 1 ? k.row(1) - k.row(0) : n);
  const auto block = [&](Index b) {
    const Index first = b * rows_of_a_block;
    const int rows = static_cast<int>(std::min(rows_of_a_block, n - first));
    double* out = product + first * columns;
    if (columns == 1) {
      cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, static_cast<int>(n), 1.0, k.row(first), stride, factors, 1, 0.0,
                  out, 1);
    } else {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, static_cast<int>(n), 1.0, k.row(first),
                  stride, factors, width, 0.0, out, width);
    }
  };
  parallel_for((n + rows_of_a_block - 1) / rows_of_a_block, n < least_for_threads ? 1 : team_size(threads), block);
}

}  // namespace widelimit
