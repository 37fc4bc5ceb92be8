#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/tile_schedule.hpp"
#include "widelimit/engine/kernels.hpp"

#include <algorithm>
#include <atomic>

namespace widelimit::cpu {

namespace {

/// Large enough for tile products to run at nine tenths of peak speed, small enough for load balance.
constexpr Index tile_edge = 256;

Index tile_count(Index size) { return (size + tile_edge - 1) / tile_edge; }
Index tile_begin(Index tile) { return tile * tile_edge; }
Index tile_length(Index tile, Index size) { return std::min(tile_edge, size - tile_begin(tile)); }

template <typename T>
MatrixView<T> tile_of(MatrixView<T> m, Index row, Index column) {
  return m.block(tile_begin(row), tile_begin(column), tile_length(row, m.rows), tile_length(column, m.cols));
}

/// Uses gemv instead of gemm if c is a single column.
template <std::floating_point T>
void multiply_add(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                  MatrixView<T> c) {
  if (c.cols == 1 && a.rows > 0 && a.cols > 0) {
    gemv<T>(alpha, op_a, a, {b.data, op_b == Transpose::no ? b.stride : 1}, beta, {c.data, c.stride});
  } else {
    gemm<T>(alpha, op_a, a, op_b, b, beta, c);
  }
}

/// Returns the tile indices of the upper triangle, row by row.
std::vector<std::pair<Index, Index>> upper_tiles(Index count) {
  std::vector<std::pair<Index, Index>> places;
  for (Index i = 0; i < count; ++i) {
    for (Index j = i; j < count; ++j) places.emplace_back(i, j);
  }
  return places;
}

/// Thrown if a leading minor is not positive; ends the work on all tiles.
struct NotPositive {};

}  // namespace

/// Tile (i, j), i ≤ j, becomes A_ij − Σ_k<i U_kiᵀU_kj, then its factor if i = j, else U_ii⁻ᵀ times it. Tiles are
/// numbered row by row, so that the rows on which all others depend come first.
template <std::floating_point T>
Index tiled_cholesky(MatrixView<T> a, Progress* progress, int threads) {
  const Index count = tile_count(a.rows);
  const auto number = [&](Index i, Index j) { return i * count - i * (i - 1) / 2 + j - i; };
  const std::vector<std::pair<Index, Index>> places = upper_tiles(count);
  std::atomic<Index> failed{0};
  const TileGraph graph{
      .tiles = std::ssize(places),
      .steps = [&](Index tile) { return places[usize(tile)].first + 1; },
      .needs = [&](Index tile, Index step) -> std::array<Index, 2> {
        const auto [i, j] = places[usize(tile)];
        if (step < i) return {number(step, i), number(step, j)};
        return {i == j ? TileGraph::nothing : number(i, i), TileGraph::nothing};
      },
      .run =
          [&](Index tile, Index step) {
            const auto [i, j] = places[usize(tile)];
            const MatrixView<T> c = tile_of(a, i, j);
            const MatrixView<const T> left = tile_of(a, step, i), right = tile_of(a, step, j);
            if (step < i) {
              i == j ? syrk<T>(-1, Transpose::yes, left, 1, c)
                     : gemm<T>(-1, Transpose::yes, left, Transpose::no, right, 1, c);
            } else if (i < j) {
              trsm<T>(left, Transpose::yes, c);
            } else if (const Index info = potrf<T>(c); info != 0) {
              failed = tile_begin(i) + std::max<Index>(info, 1);
              throw NotPositive{};
            }
          },
  };
  try {
    run_tiles(graph, threads, progress);
  } catch (const NotPositive&) {
    return failed;
  }
  return 0;
}

/// Tile row i of op(u)⁻¹b is b_i minus the contributions of the previously solved rows, then multiplied by U_ii⁻¹. Many
/// columns are tiled as well.
template <std::floating_point T>
void tiled_solve(MatrixView<const T> u, Transpose op, MatrixView<T> b, int threads) {
  if (b.rows == 0 || b.cols == 0) return;
  const Index rows = tile_count(b.rows), columns = tile_count(b.cols);
  const bool forward = op == Transpose::yes;
  // Tiles are numbered in the order in which rows are solved, with all columns of a row together.
  const auto row_of = [&](Index tile) { return forward ? tile / columns : rows - 1 - tile / columns; };
  const TileGraph graph{
      .tiles = rows * columns,
      .steps = [&](Index tile) { return tile / columns + 1; },
      .needs = [&](Index tile, Index step) -> std::array<Index, 2> {
        if (step == tile / columns) return {TileGraph::nothing, TileGraph::nothing};
        return {step * columns + tile % columns, TileGraph::nothing};
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
            multiply_add<T>(-1, op, forward ? tile_of(u, k, i) : tile_of(u, i, k), Transpose::no, tile_of(b, k, column),
                            1, here);
          },
  };
  run_tiles(graph, threads);
}

template <std::floating_point T>
void tiled_product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                   MatrixView<T> c, int threads) {
  const Index rows = tile_count(c.rows), columns = tile_count(c.cols);
  parallel_for(rows * columns, threads, [&](Index task) {
    const Index i = task / columns, j = task % columns;
    const MatrixView<T> out = tile_of(c, i, j);
    const auto left = op_a == Transpose::no ? a.block(tile_begin(i), 0, out.rows, a.cols)
                                            : a.block(0, tile_begin(i), a.rows, out.rows);
    const auto right = op_b == Transpose::no ? b.block(0, tile_begin(j), b.rows, out.cols)
                                             : b.block(tile_begin(j), 0, out.cols, b.cols);
    multiply_add<T>(alpha, op_a, left, op_b, right, beta, out);
  });
}

template <std::floating_point T>
void tiled_self_product(T alpha, MatrixView<const T> a, T beta, MatrixView<T> c, int threads) {
  const std::vector<std::pair<Index, Index>> places = upper_tiles(tile_count(c.rows));
  parallel_for(std::ssize(places), threads, [&](Index task) {
    const auto [i, j] = places[usize(task)];
    const MatrixView<T> out = tile_of(c, i, j);
    const auto left = a.block(0, tile_begin(i), a.rows, out.rows), right = a.block(0, tile_begin(j), a.rows, out.cols);
    i == j ? syrk<T>(alpha, Transpose::yes, left, beta, out)
           : gemm<T>(alpha, Transpose::yes, left, Transpose::no, right, beta, out);
  });
}

void tiled_row_product(double alpha, MatrixView<const double> a, MatrixView<double> c, int threads) {
  const std::vector<std::pair<Index, Index>> places = upper_tiles(tile_count(c.rows));
  parallel_for(std::ssize(places), threads, [&](Index task) {
    const auto [j, i] = places[usize(task)];
    const MatrixView<double> out = tile_of(c, i, j);
    const auto rows = [&](Index tile) { return a.block(tile_begin(tile), 0, tile_length(tile, c.rows), a.cols); };
    i == j ? syrk_lower(alpha, rows(i), out)
           : gemm<double>(alpha, Transpose::no, rows(i), Transpose::yes, rows(j), 1, out);
  });
}

/// Each tile of columns of c reads a above the diagonal by columns and below the diagonal by rows.
void tiled_symmetric_product(MatrixView<const double> v, MatrixView<const double> a, MatrixView<double> c,
                             int threads) {
  parallel_for(tile_count(a.rows), threads, [&](Index tile) {
    const Index begin = tile_begin(tile), width = tile_length(tile, a.rows), end = begin + width;
    const Index rest = a.rows - end;
    const MatrixView<double> out = c.block(0, begin, c.rows, width);
    gemm<double>(1, Transpose::no, v.block(0, 0, v.rows, begin), Transpose::no, a.block(0, begin, begin, width), 0,
                 out);
    Matrix<double> square(width, width, Content::unset);
    for (Index i = 0; i < width; ++i) {
      for (Index j = i; j < width; ++j) square(i, j) = square(j, i) = a(begin + i, begin + j);
    }
    const double from_above = begin > 0 ? 1 : 0;
    gemm<double>(1, Transpose::no, v.block(0, begin, v.rows, width), Transpose::no, square.view(), from_above, out);
    gemm<double>(1, Transpose::no, v.block(0, end, v.rows, rest), Transpose::yes, a.block(begin, end, width, rest), 1,
                 out);
  });
}

/// Computes aᵀb + bᵀa as one product of the stacked rows (a, b)ᵀ(b, a), so that each tile of c is read and written
/// once.
void tiled_rank_two_update(double alpha, MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
                           int threads, Index ahead, const std::function<void()>& beside) {
  Matrix<double> stacked(2 * a.rows, a.cols, Content::unset);
  Matrix<double> swapped(2 * a.rows, a.cols, Content::unset);
  for (Index i = 0; i < a.rows; ++i) {
    for (const Index row : {i, a.rows + i}) {
      std::copy_n((row == i ? a : b).row(i), a.cols, stacked.view().row(row));
      std::copy_n((row == i ? b : a).row(i), a.cols, swapped.view().row(row));
    }
  }
  const auto update = [&](Range rows, Range cols) {
    const auto columns = [](MatrixView<const double> m, Range range) {
      return m.block(0, range.begin, m.rows, range.size());
    };
    const MatrixView<double> out = c.block(rows.begin, cols.begin, rows.size(), cols.size());
    if (rows.begin == cols.begin && rows.end == cols.end) {
      syr2k(alpha, columns(a, rows), columns(b, rows), out);
    } else {
      gemm<double>(alpha, Transpose::yes, columns(stacked.view(), rows), Transpose::no, columns(swapped.view(), cols),
                   1, out);
    }
  };
  const auto tile = [](Index begin, Index number, Index size) {
    return Range{begin + tile_begin(number), begin + tile_begin(number) + tile_length(number, size - begin)};
  };
  if (ahead > 0) update({0, ahead}, {0, ahead});
  parallel_for(tile_count(c.cols - ahead), threads, [&](Index j) { update({0, ahead}, tile(ahead, j, c.cols)); });
  const std::vector<std::pair<Index, Index>> places = upper_tiles(tile_count(c.rows - ahead));
  parallel_for(1 + std::ssize(places), threads, [&](Index task) {
    if (task == 0) return beside ? beside() : void();
    const auto [i, j] = places[usize(task - 1)];
    update(tile(ahead, i, c.rows), tile(ahead, j, c.rows));
  });
}

template Index tiled_cholesky(MatrixView<float>, Progress*, int);
template Index tiled_cholesky(MatrixView<double>, Progress*, int);
template void tiled_solve(MatrixView<const float>, Transpose, MatrixView<float>, int);
template void tiled_solve(MatrixView<const double>, Transpose, MatrixView<double>, int);
template void tiled_product(float, Transpose, MatrixView<const float>, Transpose, MatrixView<const float>, float,
                            MatrixView<float>, int);
template void tiled_product(double, Transpose, MatrixView<const double>, Transpose, MatrixView<const double>, double,
                            MatrixView<double>, int);
template void tiled_self_product(float, MatrixView<const float>, float, MatrixView<float>, int);
template void tiled_self_product(double, MatrixView<const double>, double, MatrixView<double>, int);

}  // namespace widelimit::cpu
