#pragma once

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/entries.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"
#include "widelimit/kernel/traverse.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace widelimit {

/// Progress in pairs of samples: add() is thread-safe, report() updates the bar on the calling thread.
class PairProgress {
 public:
  PairProgress(Progress* progress, Index total) : ticker_(progress, total, "pairs"), total_(total) {}
  void add(Index pairs) { done_ += pairs; }
  void report() { ticker_.at(std::min<Index>(done_, total_)); }
  [[nodiscard]] Index done() const { return done_; }

 private:
  ProgressTicker ticker_;
  Index total_;
  std::atomic<Index> done_ = 0;
};

/// Statistics of the entries, accumulated while tiles are written.
struct EntryCount {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double trace = 0;

  void add(const EntryCount& other);
  /// Sets the statistics of a matrix whose size is set; an empty matrix has none.
  void write(bool symmetric, Entries& entries) const;
};

/// One network on one pair of sample sets, and its destination in the file.
struct FileTask {
  GramTask gram;
  std::size_t first_matrix = 0;  ///< index in the file; one matrix per output of the recipe
  std::uint64_t number = 0;      ///< index among the tasks of the file

  /// Edge of the tiles.
  [[nodiscard]] Index edge(const Engine& engine) const {
    return gram_tile_edge(gram.x1.count(), gram.columns().count(), engine.kernels().tile_edge(*gram.recipe));
  }
  /// Tiles of a pair of panels.
  [[nodiscard]] std::vector<Tile> tiles(Range rows, Range cols, const Engine& engine) const;
  /// Identifier of a tile, independent of the panels.
  [[nodiscard]] std::uint64_t key(const Tile& tile) const;
  [[nodiscard]] Index pairs(const Tile& tile) const { return tile.pairs(gram.symmetric()); }
  /// Bytes of the tiles in flight.
  [[nodiscard]] std::size_t tile_bytes(const Engine& engine) const;
};

/// Computes the tiles of a task that are missing in the file, verifies the checksums of the others, and returns the
/// statistics of each matrix.
[[nodiscard]] std::vector<EntryCount> write_tiles(const FileTask& task, const PanelPlan& plan, const Engine& engine,
                                                  GramWriter& file, PairProgress& progress);

}  // namespace widelimit
