#include "widelimit/engine/cpu/algebra/cut_product.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>

namespace widelimit::cpu {

namespace {

/// Below this many multiply-adds a team costs more than it saves.
constexpr double worth_a_team = 1 << 24;
/// Parts of a product: enough for teams of different speed, few enough that packing the smaller factor again for each
/// stays below a tenth of the work.
constexpr Index most_parts = 16;
constexpr Index thinnest_part = 64;
/// Multiply-adds of one part at most, where it is not the thinnest: a fraction of a second, so that a product can be
/// stopped between two parts.
constexpr double most_work = 4e9;

/// Length of one part of a side of `size`, a multiple of what BLAS takes at a time.
Index part_length(Index size, double work) {
  const auto stoppable = static_cast<Index>(most_work / work * static_cast<double>(size));
  const Index length = std::max(thinnest_part, std::min(stoppable, (size + most_parts - 1) / most_parts));
  return (length + thinnest_part - 1) / thinnest_part * thinnest_part;
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
  const Index length = work < worth_a_team ? side : part_length(side, work);
  const Index parts = (side + length - 1) / length;
  const auto one = [&](Index k) {
    const Index begin = k * length;
    const Index size = std::min(length, side - begin);
    if (tall) {
      const auto rows = op_a == Transpose::no ? a.block(begin, 0, size, inner) : a.block(0, begin, inner, size);
      gemm<T>(alpha, op_a, rows, op_b, b, beta, c.block(begin, 0, size, c.cols));
    } else {
      const auto cols = op_b == Transpose::no ? b.block(0, begin, inner, size) : b.block(begin, 0, size, inner);
      gemm<T>(alpha, op_a, a, op_b, cols, beta, c.block(0, begin, c.rows, size));
    }
  };
  if (threads > 1 && parts > 1) {
    parallel_for(parts, threads, one);
  } else {
    for (Index k = 0; k < parts; ++k) {
      one(k);
      interruption_point();
    }
  }
}

template void cut_product(float, Transpose, MatrixView<const float>, Transpose, MatrixView<const float>, float,
                          MatrixView<float>, int);
template void cut_product(double, Transpose, MatrixView<const double>, Transpose, MatrixView<const double>, double,
                          MatrixView<double>, int);

}  // namespace widelimit::cpu
