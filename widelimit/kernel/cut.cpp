#include "widelimit/kernel/cut.hpp"

#include <algorithm>

namespace widelimit {

namespace {

Range piece(Range whole, Index begin, Index edge) { return {begin, std::min(whole.end, begin + edge)}; }

/// A square on the diagonal as rectangles above it and small squares on it: what lies below is never computed.
void split_square(Range square, std::vector<Tile>& tiles) {
  constexpr Index smallest = 64;
  if (square.size() <= smallest) {
    if (square.size() > 0) tiles.push_back({square, square});
    return;
  }
  const Index middle = square.begin + (square.size() / 2 + smallest - 1) / smallest * smallest;
  tiles.push_back({{square.begin, middle}, {middle, square.end}});
  split_square({square.begin, middle}, tiles);
  split_square({middle, square.end}, tiles);
}

}  // namespace

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
    const Range rows = piece(square, row, edge);
    split_square(rows, tiles);
    for (Index col = row + edge; col < square.end; col += edge) tiles.push_back({rows, piece(square, col, edge)});
  }
  return tiles;
}

}  // namespace widelimit
