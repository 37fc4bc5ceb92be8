#include "widelimit/kernel/tiles.hpp"

#include "widelimit/backend/overflow.hpp"
#include "widelimit/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace widelimit {

namespace {

/// Counts finished pairs from any thread, tells the caller's Progress from its own.
class PairCounter {
 public:
  PairCounter(Progress* progress, Index total) : pulse_(progress, total, "pairs") {}
  void add(Index pairs) { done_ += pairs; }
  void tell() { pulse_.at(done_); }

 private:
  std::atomic<Index> done_ = 0;
  Pulse pulse_;
};

Range tile_range(Index tile, Index edge, Index n) { return {tile * edge, std::min(n, (tile + 1) * edge)}; }

template <typename T>
std::vector<MatrixView<T>> blocks(const std::vector<MatrixView<T>>& outputs, Range rows, Range cols) {
  std::vector<MatrixView<T>> result;
  result.reserve(outputs.size());
  for (const auto& output : outputs) result.push_back(output.block(rows.begin, cols.begin, rows.size(), cols.size()));
  return result;
}

/// to = fromᵀ, in blocks that stay in cache on both sides.
template <typename T>
void transpose(MatrixView<const T> from, MatrixView<T> to) {
  constexpr Index block = 16;
  for (Index i0 = 0; i0 < from.rows; i0 += block) {
    for (Index j0 = 0; j0 < from.cols; j0 += block) {
      const Index i1 = std::min(i0 + block, from.rows);
      const Index j1 = std::min(j0 + block, from.cols);
      for (Index j = j0; j < j1; ++j) {
        for (Index i = i0; i < i1; ++i) to(j, i) = from(i, j);
      }
    }
  }
}

/// Copies the strict upper triangle of a square tile below its diagonal.
template <typename T>
void mirror_within(MatrixView<T> tile) {
  for (Index i = 1; i < tile.rows; ++i) {
    for (Index j = 0; j < i; ++j) tile(i, j) = tile(j, i);
  }
}

}  // namespace

template <std::floating_point T>
void fill_rectangle(const Backend& backend, const Recipe& recipe, const Loaded& x1, const Loaded& x2,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress) {
  const Index n1 = x1.count();
  const Index n2 = x2.count();
  const Index edge = backend.tile_edge(recipe, precision_of<T>);
  const Index tile_rows = (n1 + edge - 1) / edge;
  const Index tile_cols = (n2 + edge - 1) / edge;
  PairCounter counter(progress, n1 * n2);
  backend.for_each(
      tile_rows * tile_cols,
      [&](Index k) {
        const Range rows = tile_range(k / tile_cols, edge, n1);
        const Range cols = tile_range(k % tile_cols, edge, n2);
        backend.tile(recipe, x1, rows, x2, cols, blocks(outputs, rows, cols));
        counter.add(rows.size() * cols.size());
      },
      [&] { counter.tell(); });
}

template <std::floating_point T>
void fill_symmetric(const Backend& backend, const Recipe& recipe, const Loaded& x,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress) {
  const Index n = x.count();
  const Index edge = backend.tile_edge(recipe, precision_of<T>);
  const Index tiles = (n + edge - 1) / edge;
  Matrix<double> diagonal(recipe.outputs, n);
  backend.diagonal(recipe, x, diagonal.view());

  PairCounter counter(progress, n * (n + 1) / 2);
  const auto fill = [&](Index tile_row, Index tile_col) {
    const Range rows = tile_range(tile_row, edge, n);
    const Range cols = tile_range(tile_col, edge, n);
    const auto upper = blocks(outputs, rows, cols);
    backend.tile(recipe, x, rows, x, cols, upper);
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      if (tile_row != tile_col) {
        transpose<T>(upper[s], outputs[s].block(cols.begin, rows.begin, cols.size(), rows.size()));
        continue;
      }
      mirror_within(upper[s]);
      for (Index i = rows.begin; i < rows.end; ++i) {
        const auto value = static_cast<T>(diagonal(static_cast<Index>(s), i));
        if (!std::isfinite(value)) report_overflow(static_cast<Index>(s), i, i, precision_of<T>);
        outputs[s](i, i) = value;
      }
    }
    counter.add(tile_row == tile_col ? rows.size() * (rows.size() + 1) / 2 : rows.size() * cols.size());
  };
  // Task k is tile (row, col) of the upper triangle, read off row by row.
  std::vector<std::pair<Index, Index>> upper_tiles;
  for (Index row = 0; row < tiles; ++row) {
    for (Index col = row; col < tiles; ++col) upper_tiles.emplace_back(row, col);
  }
  backend.for_each(
      static_cast<Index>(upper_tiles.size()),
      [&](Index k) {
        const auto& tile = upper_tiles[static_cast<std::size_t>(k)];
        fill(tile.first, tile.second);
      },
      [&] { counter.tell(); });
}

template void fill_rectangle(const Backend&, const Recipe&, const Loaded&, const Loaded&,
                             const std::vector<MatrixView<float>>&, Progress*);
template void fill_rectangle(const Backend&, const Recipe&, const Loaded&, const Loaded&,
                             const std::vector<MatrixView<double>>&, Progress*);
template void fill_symmetric(const Backend&, const Recipe&, const Loaded&, const std::vector<MatrixView<float>>&,
                             Progress*);
template void fill_symmetric(const Backend&, const Recipe&, const Loaded&, const std::vector<MatrixView<double>>&,
                             Progress*);

}  // namespace widelimit
