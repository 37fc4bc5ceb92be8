#include "widelimit/engine/tiles.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace widelimit {

namespace {

Range piece(Range whole, Index begin, Index edge) { return {begin, std::min(whole.end, begin + edge)}; }

}  // namespace

Index gram_tile_edge(Index n1, Index n2, Index largest) {
  constexpr Index tiny = 64;
  const Index quarter = (std::max(n1, n2) / 4 + tiny - 1) / tiny * tiny;
  return std::min(largest, std::max(tiny, quarter));
}

std::vector<Tile> rectangle_tiles(Range rows, Range cols, Index edge) {
  std::vector<Tile> tiles;
  for (Index row = rows.begin; row < rows.end; row += edge) {
    for (Index col = cols.begin; col < cols.end; col += edge) {
      tiles.push_back({piece(rows, row, edge), piece(cols, col, edge)});
    }
  }
  return tiles;
}

std::vector<Tile> upper_tiles(Range square, Index edge) {
  std::vector<Tile> tiles;
  for (Index row = square.begin; row < square.end; row += edge) {
    for (Index col = row + edge; col < square.end; col += edge) {
      tiles.push_back({piece(square, row, edge), piece(square, col, edge)});
    }
  }
  for (Index row = square.begin; row < square.end; row += edge) {
    tiles.push_back({piece(square, row, edge), piece(square, row, edge)});
  }
  return tiles;
}

std::vector<Tile> tiles_of(Range rows, Range cols, bool square, Index edge) {
  return square ? upper_tiles(rows, edge) : rectangle_tiles(rows, cols, edge);
}

template <std::floating_point T>
void set_diagonal(MatrixView<const double> diagonal, Range square, std::span<const MatrixView<T>> blocks) {
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const auto output = static_cast<Index>(s);
    for (Index i = 0; i < square.size(); ++i) {
      const Index sample = square.begin + i;
      const auto value = static_cast<T>(diagonal(output, sample));
      if (!std::isfinite(value)) report_overflow(output, sample, sample, precision_of<T>);
      blocks[s](i, i) = value;
    }
  }
}

template <std::floating_point T>
void fill_by_tiles(const Kernels& kernels, int threads, const Recipe& recipe, const Loaded& x1, Range rows,
                   const Loaded& x2, Range cols, bool symmetric, std::span<const MatrixView<T>> blocks,
                   const std::function<void(Index pairs)>& after) {
  const Index edge = gram_tile_edge(rows.size(), cols.size(), kernels.tile_edge(recipe));
  const std::vector<Tile> tiles = tiles_of(rows, cols, symmetric, edge);
  Matrix<double> diagonal(symmetric ? recipe.outputs : 0, symmetric ? x1.count() : 0);
  if (symmetric) kernels.diagonal(recipe, x1, diagonal.view(), [&](Index) { after(0); });
  const auto place = [&](Range r, Range c) {
    std::vector<MatrixView<T>> result;
    for (const auto& block : blocks) {
      result.push_back(block.block(r.begin - rows.begin, c.begin - cols.begin, r.size(), c.size()));
    }
    return result;
  };
  std::atomic<Index> done = 0;
  parallel_for(
      std::ssize(tiles), threads,
      [&](Index k) {
        const Tile& tile = tiles[usize(k)];
        const std::vector<MatrixView<T>> outputs = place(tile.rows, tile.cols);
        if (symmetric) {
          kernels.mirrored_tile(recipe, x1, tile.rows, tile.cols, outputs, place(tile.cols, tile.rows));
          if (tile.on_diagonal()) set_diagonal<T>(diagonal.view(), tile.rows, outputs);
        } else {
          kernels.tile(recipe, x1, tile.rows, x2, tile.cols, outputs);
        }
        done += tile.pairs(symmetric);
      },
      [&](Index) { after(done); });
}

template void set_diagonal(MatrixView<const double>, Range, std::span<const MatrixView<float>>);
template void set_diagonal(MatrixView<const double>, Range, std::span<const MatrixView<double>>);
template void fill_by_tiles(const Kernels&, int, const Recipe&, const Loaded&, Range, const Loaded&, Range, bool,
                            std::span<const MatrixView<float>>, const std::function<void(Index)>&);
template void fill_by_tiles(const Kernels&, int, const Recipe&, const Loaded&, Range, const Loaded&, Range, bool,
                            std::span<const MatrixView<double>>, const std::function<void(Index)>&);

}  // namespace widelimit
