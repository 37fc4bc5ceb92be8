#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <array>
#include <functional>

namespace widelimit::cpu {

/// A task graph over the tiles of a matrix. Each tile is completed by a sequence of steps, which may depend on other
/// completed tiles. The steps of a tile have a fixed order and shape, so results do not depend on the number or speed
/// of threads.
struct TileGraph {
  static constexpr Index nothing = -1;

  Index tiles = 0;
  std::function<Index(Index tile)> steps;  ///< number of steps, at least one
  /// Tiles that a step depends on, `nothing` for none. The dependencies must be acyclic.
  std::function<std::array<Index, 2>(Index tile, Index step)> needs;
  std::function<void(Index tile, Index step)> run;
};

/// Runs all steps on `threads` threads; ready tiles are processed in ascending order. Idle threads sleep. The first
/// exception of a step stops the work and is rethrown. `progress` is called on the calling thread with the number of
/// finished steps and can stop the work.
void run_tiles(const TileGraph& graph, int threads, Progress* progress = nullptr);

}  // namespace widelimit::cpu
