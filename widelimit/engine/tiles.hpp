#pragma once

#include "widelimit/engine/kernels.hpp"

#include <vector>

/// How a Gram matrix is cut into tiles: by sizes alone, never by threads or memory, so that neither changes a bit of
/// the result. Edges lie at multiples of gram_tile_edge; ranges that begin at such a multiple may be cut one by one.
namespace widelimit {

struct Tile {
  Range rows;
  Range cols;

  /// In a symmetric Gram: a square whose diagonal is that of the matrix.
  [[nodiscard]] bool on_diagonal() const { return rows.begin == cols.begin; }
  /// Pairs of a symmetric Gram that are computed for this tile.
  [[nodiscard]] Index upper_pairs() const {
    return on_diagonal() ? rows.size() * (rows.size() + 1) / 2 : rows.size() * cols.size();
  }
};

/// Edge of the tiles of a Gram with n1 rows and n2 columns: what a back end likes best, or less, so that the longer
/// side has at least four, unless they would be tiny.
[[nodiscard]] Index gram_tile_edge(Index n1, Index n2, Index largest);

/// Tiles of rows × cols, row by row.
[[nodiscard]] std::vector<Tile> rectangle_tiles(Range rows, Range cols, Index edge);

/// Tiles that cover the upper triangle of square × square: first those above the diagonal, then the squares on it,
/// which are half the work and so leave the threads to finish together.
[[nodiscard]] std::vector<Tile> upper_tiles(Range square, Index edge);

/// Writes the pairs (i, i) of a square on the diagonal, which Kernels::tile took for two different samples:
/// blocks[s](i, i) = diagonal(s, square.begin + i), as Kernels::diagonal gave it. Error{numerical} on overflow.
template <std::floating_point T>
void set_diagonal(MatrixView<const double> diagonal, Range square, std::span<const MatrixView<T>> blocks);

/// Kernels::fill into host memory, tile by tile: blocks[s] is rows × cols.
template <std::floating_point T>
void fill_by_tiles(const Kernels& kernels, int threads, const Recipe& recipe, const Loaded& x1, Range rows,
                   const Loaded& x2, Range cols, bool symmetric, std::span<const MatrixView<T>> blocks,
                   const std::function<void(Index pairs)>& after);

}  // namespace widelimit
