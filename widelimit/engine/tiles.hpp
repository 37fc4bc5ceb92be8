#pragma once

#include "widelimit/engine/kernels.hpp"

#include <vector>

/// Tiling of a Gram matrix. It depends only on sizes, never on threads or memory, so that neither affects results.
/// Edges lie at multiples of gram_tile_edge; ranges that begin at such a multiple can be tiled separately.
namespace widelimit {

struct Tile {
  Range rows;
  Range cols;

  /// Returns true for a diagonal tile of a symmetric Gram matrix.
  [[nodiscard]] bool on_diagonal() const { return rows.begin == cols.begin; }
  /// Returns the number of pairs of a symmetric Gram matrix that are computed for this tile.
  [[nodiscard]] Index upper_pairs() const {
    return on_diagonal() ? rows.size() * (rows.size() + 1) / 2 : rows.size() * cols.size();
  }
  /// Returns the number of pairs that are computed for this tile.
  [[nodiscard]] Index pairs(bool symmetric) const { return symmetric ? upper_pairs() : rows.size() * cols.size(); }
};

/// Returns the tile edge of a Gram matrix with n1 rows and n2 columns: `largest`, the preference of the back end, or
/// less so that the longer side has at least four tiles, but at least 64.
[[nodiscard]] Index gram_tile_edge(Index n1, Index n2, Index largest);

/// Returns the tiles of rows × cols, row by row.
[[nodiscard]] std::vector<Tile> rectangle_tiles(Range rows, Range cols, Index edge);

/// Returns tiles that cover the upper triangle of square × square: first those above the diagonal, then the diagonal
/// ones, which take half the time and so balance the load of the threads at the end.
[[nodiscard]] std::vector<Tile> upper_tiles(Range square, Index edge);

/// Returns the tiles of rows × cols or, if `square` (both ranges are the same samples), those of the upper triangle.
[[nodiscard]] std::vector<Tile> tiles_of(Range rows, Range cols, bool square, Index edge);

/// Writes the pairs (i, i) of a diagonal tile, which Kernels::tile treats as two different samples: blocks[s](i, i) =
/// diagonal(s, square.begin + i), from Kernels::diagonal. Throws Error{numerical} on overflow.
template <std::floating_point T>
void set_diagonal(MatrixView<const double> diagonal, Range square, std::span<const MatrixView<T>> blocks);

/// Kernels::fill into host memory, tile by tile: blocks[s] is rows × cols.
template <std::floating_point T>
void fill_by_tiles(const Kernels& kernels, int threads, const Recipe& recipe, const Loaded& x1, Range rows,
                   const Loaded& x2, Range cols, bool symmetric, std::span<const MatrixView<T>> blocks,
                   const std::function<void(Index pairs)>& after);

}  // namespace widelimit
