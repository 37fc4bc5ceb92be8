#pragma once

#include "widelimit/backend/backend.hpp"

#include <vector>

/// How a Gram matrix is cut into tiles: by sizes alone, never by threads or memory, so that neither changes a bit of
/// the result. Edges lie at multiples of `edge`; ranges that begin at such a multiple may be cut one by one.
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

/// Tiles of rows × cols, row by row.
[[nodiscard]] std::vector<Tile> rectangle_tiles(Range rows, Range cols, Index edge);

/// Tiles that cover the upper triangle of square × square, its diagonal among it.
[[nodiscard]] std::vector<Tile> upper_tiles(Range square, Index edge);

}  // namespace widelimit
