#include "widelimit/engine/cpu/plane/plane.hpp"

#include <algorithm>
#include <cstdlib>

namespace widelimit::cpu {

namespace {

/// A contiguous range of one axis: element `begin` pairs position `first` with position `second`.
struct Run {
  Index begin, length, first, second;
};

std::size_t runs_of(Index size, Index d, bool wraps, std::array<Run, 2>& runs) {
  if (!wraps) {
    runs[0] = {0, size - std::abs(d), std::max(Index{0}, -d), std::max(Index{0}, d)};
    return 1;
  }
  const Index shift = (d % size + size) % size;
  runs[0] = {0, size - shift, 0, shift};
  runs[1] = {size - shift, shift, size - shift, 0};
  return shift == 0 ? 1 : 2;
}

}  // namespace

Plane make_plane(Grid grid, Index dy, Index dx, bool wraps) {
  Plane plane{wraps ? grid.height : grid.height - std::abs(dy), wraps ? grid.width : grid.width - std::abs(dx),
              grid.width};
  std::array<Run, 2> along_y{};
  std::array<Run, 2> along_x{};
  const std::size_t count_y = runs_of(grid.height, dy, wraps, along_y);
  const std::size_t count_x = runs_of(grid.width, dx, wraps, along_x);
  for (std::size_t i = 0; i < count_y; ++i) {
    for (std::size_t j = 0; j < count_x; ++j) {
      const Run& y = along_y[i];
      const Run& x = along_x[j];
      plane.parts[plane.part_count++] = {y.begin, x.begin, y.length, x.length, y.first, x.first, y.second, x.second};
    }
  }
  return plane;
}

}  // namespace widelimit::cpu
