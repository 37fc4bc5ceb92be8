#include "widelimit/engine/cpu/algebra/cut_product.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>

namespace widelimit::cpu {

namespace {

/// Number of multiply-adds below which a team of threads does not pay off.
constexpr double worth_a_team = 1 << 24;
/// Number of parts of a product: enough to balance threads of different speed, few enough that repacking the smaller
/// factor for each costs less than a tenth of the work.
constexpr Index most_parts = 16;
constexpr Index least_part = 64;
/// Multiply-adds per BLAS call, unless it has the minimal number of rows: a fraction of a second, after which a product
/// can be interrupted. Calls start at multiples of fewest_rows, a common multiple of the row blocks of OpenBLAS kernels
/// (up to 64 and 24), so results are bit-identical to a single call; splitting columns would change them.
constexpr double most_work = 2.5e9;
constexpr Index fewest_rows = 192;

/// Returns the length of one part of a side of `size`, a multiple of the BLAS block size.
Index part_length(Index size) {
  const Index length = std::max(least_part, (size + most_parts - 1) / most_parts);
  return (length + least_part - 1) / least_part * least_part;
}

/// Returns the number of rows per call if each takes `row_work` multiply-adds.
Index rows_at_once(double row_work) {
  const double rows = std::min(most_work / std::max(row_work, 1.0), most_work);
  return std::max(fewest_rows, static_cast<Index>(rows) / fewest_rows * fewest_rows);
}

}  // namespace

template <std::floating_point T>
void cut_product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                 MatrixView<T> c, int threads) {
  if (c.rows == 0 || c.cols == 0) return;
  const Index inner = op_a == Transpose::no ? a.cols : a.rows;
  const double work = static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(inner);
  const bool tall = c.rows > c.cols;
  const Index side = tall ? c.rows : c.cols;
  const Index length = work < worth_a_team ? side : part_length(side);
  const Index parts = (side + length - 1) / length;
  const auto one = [&](Index k) {
    const Index begin = k * length;
    const Index size = std::min(length, side - begin);
    const auto right = tall                    ? b
                       : op_b == Transpose::no ? b.block(0, begin, inner, size)
                                               : b.block(begin, 0, size, inner);
    const MatrixView<T> out = tall ? c.block(begin, 0, size, c.cols) : c.block(0, begin, c.rows, size);
    const Index first = tall ? begin : 0;
    const Index height = rows_at_once(static_cast<double>(out.cols) * static_cast<double>(inner));
    for (Index row = 0; row < out.rows; row += height) {
      const Index rows = std::min(height, out.rows - row);
      const auto left =
          op_a == Transpose::no ? a.block(first + row, 0, rows, inner) : a.block(0, first + row, inner, rows);
      gemm<T>(alpha, op_a, left, op_b, right, beta, out.block(row, 0, rows, out.cols));
      interruption_point();
    }
  };
  if (threads > 1 && parts > 1) {
    parallel_for(parts, threads, one);
  } else {
    for (Index k = 0; k < parts; ++k) one(k);
  }
}

template void cut_product(float, Transpose, MatrixView<const float>, Transpose, MatrixView<const float>, float,
                          MatrixView<float>, int);
template void cut_product(double, Transpose, MatrixView<const double>, Transpose, MatrixView<const double>, double,
                          MatrixView<double>, int);

}  // namespace widelimit::cpu
