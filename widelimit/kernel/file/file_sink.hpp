#pragma once

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"
#include "widelimit/kernel/traverse.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace widelimit {

/// Pairs of samples that are done: counted by any thread, reported by the calling one.
class PairProgress {
 public:
  PairProgress(Progress* progress, Index total) : ticker_(progress, total, "pairs"), total_(total) {}
  void add(Index pairs) { done_ += pairs; }
  void tell() { ticker_.at(std::min<Index>(done_, total_)); }
  [[nodiscard]] Index done() const { return done_; }

 private:
  ProgressTicker ticker_;
  Index total_;
  std::atomic<Index> done_ = 0;
};

/// First statistics of entries, gathered as they pass.
struct EntryCount {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double trace = 0;

  void add(const EntryCount& other);
};

/// One network on one pair of sample sets: what is computed, and where it goes.
struct FileTask {
  GramTask gram;
  std::size_t first_matrix = 0;  ///< of the file; one for each output of the recipe
  std::uint64_t number = 0;      ///< among the tasks of the file

  /// Edge of its tiles.
  [[nodiscard]] Index edge(const Engine& engine) const {
    return gram_tile_edge(gram.x1.count(), gram.columns().count(), engine.kernels().tile_edge(*gram.recipe));
  }
  /// Tiles of a pair of panels.
  [[nodiscard]] std::vector<Tile> tiles(Range rows, Range cols, const Engine& engine) const;
  /// Number of a tile, the same whatever the panels.
  [[nodiscard]] std::uint64_t key(const Tile& tile) const;
  [[nodiscard]] Index pairs(const Tile& tile) const {
    return gram.symmetric() ? tile.upper_pairs() : tile.rows.size() * tile.cols.size();
  }
  /// Bytes of the tiles that are under way at once.
  [[nodiscard]] std::size_t tile_bytes(const Engine& engine) const;
};

/// Computes the tiles of a task that are not in the file yet, checks those that are, and returns the statistics of
/// each of its matrices.
[[nodiscard]] std::vector<EntryCount> write_tiles(const FileTask& task, const PanelPlan& plan, const Engine& engine,
                                                  GramWriter& file, PairProgress& progress);

}  // namespace widelimit
