#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/tile_schedule.hpp"

#include <algorithm>
#include <atomic>

namespace widelimit::cpu {

namespace {

/// Large enough for products of tiles to run at nine tenths of the speed of large ones, small enough that a thread is
/// never long behind the others.
constexpr Index tile_edge = 256;

Index tile_count(Index size) { return (size + tile_edge - 1) / tile_edge; }
Index tile_begin(Index tile) { return tile * tile_edge; }
Index tile_length(Index tile, Index size) { return std::min(tile_edge, size - tile_begin(tile)); }

template <typename T>
MatrixView<T> tile_of(MatrixView<T> m, Index row, Index column) {
  return m.block(tile_begin(row), tile_begin(column), tile_length(row, m.rows), tile_length(column, m.cols));
}

/// Row by row.
std::vector<std::pair<Index, Index>> upper_tiles(Index count) {
  std::vector<std::pair<Index, Index>> places;
  for (Index i = 0; i < count; ++i) {
    for (Index j = i; j < count; ++j) places.emplace_back(i, j);
  }
  return places;
}

/// A leading minor is not positive; ends the work on all tiles.
struct NotPositive {};

}  // namespace

/// Tile (i, j), i ≤ j, is A_ij − Σ_k<i U_kiᵀU_kj and then the factor of that, or U_ii⁻ᵀ times it. Tiles are numbered
/// row by row, so that the rows that all others need go first.
template <std::floating_point T>
Index tiled_cholesky(MatrixView<T> a, Progress* progress, int threads) {
  const Index count = tile_count(a.rows);
  const auto number = [&](Index i, Index j) { return i * count - i * (i - 1) / 2 + j - i; };
  const std::vector<std::pair<Index, Index>> places = upper_tiles(count);
  std::atomic<Index> failed{0};
  const TileWork work{
      .tiles = std::ssize(places),
      .steps = [&](Index tile) { return places[at(tile)].first + 1; },
      .needs = [&](Index tile, Index step) -> std::array<Index, 2> {
        const auto [i, j] = places[at(tile)];
        if (step < i) return {number(step, i), number(step, j)};
        return {i == j ? TileWork::nothing : number(i, i), TileWork::nothing};
      },
      .run =
          [&](Index tile, Index step) {
            const auto [i, j] = places[at(tile)];
            const MatrixView<T> c = tile_of(a, i, j);
            const MatrixView<const T> left = tile_of(a, step, i), right = tile_of(a, step, j);
            if (step < i) {
              i == j ? syrk<T>(-1, left, 1, c) : gemm<T>(-1, Op::transposed, left, Op::plain, right, 1, c);
            } else if (i < j) {
              trsm<T>(left, Op::transposed, c);
            } else if (const Index info = potrf<T>(c); info != 0) {
              failed = tile_begin(i) + std::max<Index>(info, 1);
              throw NotPositive{};
            }
          },
  };
  try {
    run_tiles(work, threads, progress);
  } catch (const NotPositive&) {
    return failed;
  }
  return 0;
}

/// Of op(u)⁻¹b, tile row i is b_i less what the rows before it, or after it, take away, and then U_ii⁻¹ times that.
/// Columns are cut as well, where there are many.
template <std::floating_point T>
void tiled_solve(MatrixView<const T> u, Op op, MatrixView<T> b, int threads) {
  if (b.rows == 0 || b.cols == 0) return;
  const Index rows = tile_count(b.rows), columns = tile_count(b.cols);
  const bool forward = op == Op::transposed;
  // In the order in which rows are solved, all columns of a row together.
  const auto row_of = [&](Index tile) { return forward ? tile / columns : rows - 1 - tile / columns; };
  const TileWork work{
      .tiles = rows * columns,
      .steps = [&](Index tile) { return tile / columns + 1; },
      .needs = [&](Index tile, Index step) -> std::array<Index, 2> {
        if (step == tile / columns) return {TileWork::nothing, TileWork::nothing};
        return {step * columns + tile % columns, TileWork::nothing};
      },
      .run =
          [&](Index tile, Index step) {
            const Index i = row_of(tile), column = tile % columns;
            const MatrixView<T> here = tile_of(b, i, column);
            if (step == tile / columns) {
              trsm<T>(tile_of(u, i, i), op, here);
              return;
            }
            const Index k = row_of(step * columns);
            gemm<T>(-1, op, forward ? tile_of(u, k, i) : tile_of(u, i, k), Op::plain, tile_of(b, k, column), 1, here);
          },
  };
  run_tiles(work, threads);
}

template <std::floating_point T>
void tiled_product(T alpha, Op op_a, MatrixView<const T> a, Op op_b, MatrixView<const T> b, T beta, MatrixView<T> c,
                   int threads) {
  const Index rows = tile_count(c.rows), columns = tile_count(c.cols);
  parallel_for(rows * columns, threads, [&](Index task) {
    const Index i = task / columns, j = task % columns;
    const MatrixView<T> out = tile_of(c, i, j);
    const auto left =
        op_a == Op::plain ? a.block(tile_begin(i), 0, out.rows, a.cols) : a.block(0, tile_begin(i), a.rows, out.rows);
    const auto right =
        op_b == Op::plain ? b.block(0, tile_begin(j), b.rows, out.cols) : b.block(tile_begin(j), 0, out.cols, b.cols);
    gemm<T>(alpha, op_a, left, op_b, right, beta, out);
  });
}

template <std::floating_point T>
void tiled_self_product(T alpha, MatrixView<const T> a, T beta, MatrixView<T> c, int threads) {
  const std::vector<std::pair<Index, Index>> places = upper_tiles(tile_count(c.rows));
  parallel_for(std::ssize(places), threads, [&](Index task) {
    const auto [i, j] = places[at(task)];
    const MatrixView<T> out = tile_of(c, i, j);
    const auto left = a.block(0, tile_begin(i), a.rows, out.rows), right = a.block(0, tile_begin(j), a.rows, out.cols);
    i == j ? syrk<T>(alpha, left, beta, out) : gemm<T>(alpha, Op::transposed, left, Op::plain, right, beta, out);
  });
}

/// A tile of columns of c takes what is above the diagonal of a from its columns, and what is below from its rows.
void tiled_symmetric_product(MatrixView<const double> v, MatrixView<const double> a, MatrixView<double> c,
                             int threads) {
  parallel_for(tile_count(a.rows), threads, [&](Index tile) {
    const Index begin = tile_begin(tile), width = tile_length(tile, a.rows), end = begin + width;
    const Index rest = a.rows - end;
    const MatrixView<double> out = c.block(0, begin, c.rows, width);
    gemm<double>(1, Op::plain, v.block(0, 0, v.rows, begin), Op::plain, a.block(0, begin, begin, width), 0, out);
    Matrix<double> square(width, width, Content::unset);
    for (Index i = 0; i < width; ++i) {
      for (Index j = i; j < width; ++j) square(i, j) = square(j, i) = a(begin + i, begin + j);
    }
    const double from_above = begin > 0 ? 1 : 0;
    gemm<double>(1, Op::plain, v.block(0, begin, v.rows, width), Op::plain, square.view(), from_above, out);
    gemm<double>(1, Op::plain, v.block(0, end, v.rows, rest), Op::transposed, a.block(begin, end, width, rest), 1, out);
  });
}

void tiled_rank_two_update(double alpha, MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
                           int threads) {
  const std::vector<std::pair<Index, Index>> places = upper_tiles(tile_count(c.rows));
  parallel_for(std::ssize(places), threads, [&](Index task) {
    const auto [i, j] = places[at(task)];
    const MatrixView<double> out = tile_of(c, i, j);
    const auto columns = [&](MatrixView<const double> m, Index tile) {
      return m.block(0, tile_begin(tile), m.rows, tile_length(tile, c.rows));
    };
    if (i == j) {
      syr2k(alpha, columns(a, i), columns(b, i), out);
    } else {
      gemm<double>(alpha, Op::transposed, columns(a, i), Op::plain, columns(b, j), 1, out);
      gemm<double>(alpha, Op::transposed, columns(b, i), Op::plain, columns(a, j), 1, out);
    }
  });
}

template Index tiled_cholesky(MatrixView<float>, Progress*, int);
template Index tiled_cholesky(MatrixView<double>, Progress*, int);
template void tiled_solve(MatrixView<const float>, Op, MatrixView<float>, int);
template void tiled_solve(MatrixView<const double>, Op, MatrixView<double>, int);
template void tiled_product(float, Op, MatrixView<const float>, Op, MatrixView<const float>, float, MatrixView<float>,
                            int);
template void tiled_product(double, Op, MatrixView<const double>, Op, MatrixView<const double>, double,
                            MatrixView<double>, int);
template void tiled_self_product(float, MatrixView<const float>, float, MatrixView<float>, int);
template void tiled_self_product(double, MatrixView<const double>, double, MatrixView<double>, int);

}  // namespace widelimit::cpu
