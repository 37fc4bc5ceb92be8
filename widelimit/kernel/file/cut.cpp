#include "widelimit/kernel/file/cut.hpp"

#include <algorithm>

namespace widelimit {

namespace {

Range piece(Range whole, Index begin, Index edge) { return {begin, std::min(whole.end, begin + edge)}; }

}  // namespace

Index cut_edge(Index n1, Index n2, Index largest) {
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

}  // namespace widelimit
