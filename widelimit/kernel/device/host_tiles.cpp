#include "widelimit/kernel/device/host_tiles.hpp"

#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/device/device_plan.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace widelimit {

namespace {

PanelPlan plan_of(const GramTask& task, Index edge, const Engine& engine) {
  return plan_panels({.rows = task.x1.count(),
                      .cols = task.columns().count(),
                      .symmetric = task.symmetric(),
                      .edge = edge,
                      .budget = std::numeric_limits<std::size_t>::max(),
                      .most = most_loaded(task, edge, engine)});
}

template <typename T>
class HostTiles {
 public:
  HostTiles(const GramTask& task, const Engine& engine, std::span<const MatrixView<T>> outputs, Progress* progress)
      : task_(task), engine_(engine), outputs_(outputs), ticker_(progress, task.pairs(), "pairs") {}

  void take(const Panel& rows, const Panel& cols, Index edge) {
    const bool square = task_.symmetric() && rows.range().begin == cols.range().begin;
    const auto tell = [&](Index) { ticker_.at(done_); };
    const Loaded& x1 = rows.loaded(tell);
    const Loaded& x2 = cols.loaded(tell);
    error_ = std::max({error_, x1.quadrature_error(), x2.quadrature_error()});
    const MatrixView<const double> own = square ? rows.diagonal(tell) : MatrixView<const double>{};
    const std::vector<Tile> tiles =
        square ? upper_tiles(rows.range(), edge) : rectangle_tiles(rows.range(), cols.range(), edge);
    engine_.for_each(
        std::ssize(tiles),
        [&](Index k) {
          const Tile& tile = tiles[usize(k)];
          const std::vector<MatrixView<T>> blocks = blocks_of(tile.rows, tile.cols);
          const Range r = rows.within(tile.rows);
          const Range c = cols.within(tile.cols);
          if (square && tile.on_diagonal()) {
            engine_.kernels().mirrored_tile(*task_.recipe, x1, r, r, blocks, blocks);
            set_diagonal<T>(own, r, blocks);
          } else {
            engine_.kernels().tile(*task_.recipe, x1, r, x2, c, blocks);
            if (task_.symmetric()) mirror(blocks, tile);
          }
          done_ += task_.symmetric() ? tile.upper_pairs() : tile.rows.size() * tile.cols.size();
        },
        tell);
  }
  [[nodiscard]] double quadrature_error() const { return error_; }

 private:
  [[nodiscard]] std::vector<MatrixView<T>> blocks_of(Range rows, Range cols) const {
    std::vector<MatrixView<T>> result;
    for (const auto& output : outputs_) {
      result.push_back(output.block(rows.begin, cols.begin, rows.size(), cols.size()));
    }
    return result;
  }
  void mirror(const std::vector<MatrixView<T>>& blocks, const Tile& tile) const {
    const std::vector<MatrixView<T>> mirrored = blocks_of(tile.cols, tile.rows);
    for (std::size_t s = 0; s < blocks.size(); ++s) transpose(MatrixView<const T>(blocks[s]), mirrored[s]);
  }

  const GramTask& task_;
  const Engine& engine_;
  std::span<const MatrixView<T>> outputs_;
  ProgressTicker ticker_;
  std::atomic<Index> done_ = 0;
  double error_ = 0;
};

}  // namespace

template <std::floating_point T>
double fill_host_by_tiles(const GramTask& task, const Engine& engine, std::span<const MatrixView<T>> outputs,
                          Progress* progress) {
  const Index edge = gram_tile_edge(task.x1.count(), task.columns().count(), engine.kernels().tile_edge(*task.recipe));
  HostTiles<T> tiles(task, engine, outputs, progress);
  Traversal(task, plan_of(task, edge, engine), engine).each_pair([&](const Panel& rows, const Panel& cols) {
    tiles.take(rows, cols, edge);
  });
  return tiles.quadrature_error();
}

template double fill_host_by_tiles(const GramTask&, const Engine&, std::span<const MatrixView<float>>, Progress*);
template double fill_host_by_tiles(const GramTask&, const Engine&, std::span<const MatrixView<double>>, Progress*);

}  // namespace widelimit
