#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/file/gram_store.hpp"
#include "widelimit/kernel/pair_progress.hpp"
#include "widelimit/kernel/panels.hpp"

#include <limits>

namespace widelimit {

/// First statistics of entries, gathered as they pass.
struct EntryCount {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double trace = 0;

  void add(const EntryCount& other);
};

/// One network on one block: what is computed, and where it goes.
struct BlockJob {
  const Recipe* recipe = nullptr;
  SampleView x1;
  std::optional<SampleView> x2;  ///< absent: x1 with itself
  std::size_t first_matrix = 0;  ///< of the store; recipe->outputs of them
  std::uint64_t number = 0;      ///< among the jobs of the store

  [[nodiscard]] bool symmetric() const { return !x2; }
  [[nodiscard]] const SampleView& columns() const { return x2 ? *x2 : x1; }
  [[nodiscard]] Index pairs() const {
    return symmetric() ? x1.count() * (x1.count() + 1) / 2 : x1.count() * x2->count();
  }
  [[nodiscard]] Index pairs(const Tile& tile) const {
    return symmetric() ? tile.upper_pairs() : tile.rows.size() * tile.cols.size();
  }
  /// Edge of its tiles.
  [[nodiscard]] Index edge(const Engine& engine) const {
    return cut_edge(x1.count(), columns().count(), engine.kernels().tile_edge(*recipe));
  }
  /// Number of a tile, the same whatever the panels.
  [[nodiscard]] std::uint64_t key(const Tile& tile) const;
};

/// Bytes of the tiles that `backend` has under way at once.
[[nodiscard]] std::size_t tile_bytes(const Engine& engine, const BlockJob& job, Precision precision);

/// Visits the tiles of a job panel by panel: rows in memory with columns in memory.
using PanelVisit = std::function<void(Range rows, Range cols, const std::vector<Tile>& tiles)>;
void each_panel_pair(const BlockJob& job, const PanelPlan& plan, Index edge, const PanelVisit& visit);

/// Computes the tiles of a job that are not in the store yet, checks those that are, and returns the statistics of
/// each of its matrices.
template <std::floating_point T>
std::vector<EntryCount> run_block(const BlockJob& job, const PanelPlan& plan, const Engine& engine, GramStore& store,
                                  PairProgress& progress);

}  // namespace widelimit
