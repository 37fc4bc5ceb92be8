#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <array>
#include <functional>

namespace widelimit::cpu {

/// Work on the tiles of a matrix, each of which is finished in some steps, one after the other. A step may need other
/// tiles to be finished first. Since the steps of a tile keep their order and their shape, results do not depend on the
/// number of threads, nor on which of them is slow.
struct TileWork {
  static constexpr Index nothing = -1;

  Index tiles = 0;
  std::function<Index(Index tile)> steps;  ///< how many, at least one
  /// Tiles that a step needs, `nothing` for none. They must have smaller numbers or need no tile that needs this one.
  std::function<std::array<Index, 2>(Index tile, Index step)> needs;
  std::function<void(Index tile, Index step)> run;
};

/// Runs all steps on `threads` threads; of tiles that can go on, the one of the smallest number first. Threads that
/// find nothing to do sleep. The first exception of a step ends the work and is rethrown. `progress` hears on the
/// calling thread how many steps are done, in `unit`s, and may stop the work.
void run_tiles(const TileWork& work, int threads, Progress* progress = nullptr);

}  // namespace widelimit::cpu
