#include "widelimit/kernel/device_gram.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/engine/tiles.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace widelimit {

namespace {

/// Three quarters of the free memory; the rest is for the scratch buffers of kernels, which adapt to it.
std::size_t usable(const MemoryUse& use) { return use.free / 4 * 3; }

std::size_t sample_bytes(const GramTask& task, const Engine& engine) {
  const auto bytes = [&](const SampleView& x) {
    return engine.kernels().loaded_bytes(*task.recipe, task.precision, x);
  };
  return std::max<std::size_t>({1, bytes(task.x1), bytes(task.columns())});
}

Index samples_of(const GramTask& task) { return task.x1.count() + (task.symmetric() ? 0 : task.columns().count()); }

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
    const auto report = [&](Index) { ticker_.at(done_); };
    const Loaded& x1 = rows.loaded(report);
    const Loaded& x2 = cols.loaded(report);
    error_ = std::max({error_, x1.quadrature_error(), x2.quadrature_error()});
    const MatrixView<const double> own = square ? rows.diagonal(report) : MatrixView<const double>{};
    const std::vector<Tile> tiles = tiles_of(rows.range(), cols.range(), square, edge);
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
          done_ += tile.pairs(task_.symmetric());
        },
        report);
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

bool fits_engine(const GramTask& task, const Engine& engine) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr) return true;
  const double matrix = static_cast<double>(task.x1.count()) * static_cast<double>(task.columns().count()) *
                        static_cast<double>(size_of(task.precision));
  const double samples = static_cast<double>(samples_of(task)) * static_cast<double>(sample_bytes(task, engine));
  const auto edge = engine.kernels().tile_edge(*task.recipe);
  const auto beside = static_cast<double>(device->tile_bytes(std::min(edge, task.x1.count()), 0, task.precision));
  const double required = static_cast<double>(task.recipe->outputs) * matrix + samples + beside;
  return required <= static_cast<double>(usable(device->memory_use()));
}

Index most_loaded(const GramTask& task, Index edge, const Engine& engine) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr) return 0;
  const MemoryUse use = device->memory_use();
  const std::size_t each = sample_bytes(task, engine);
  const std::size_t tiles = device->tile_bytes(edge, task.recipe->outputs, task.precision);
  const std::size_t left = usable(use) > tiles ? usable(use) - tiles : 0;
  const auto most = static_cast<Index>(std::min<std::size_t>(left / each, std::size_t{1} << 40));
  if (most >= samples_of(task)) return 0;
  const Index least = std::min(2 * edge, samples_of(task));
  if (most >= least) return most;
  const std::size_t required = (tiles + usize(least) * each) / 3 * 4;
  fail(Code::resource, {Remedy::more_memory, Remedy::single_precision},
       "this Gram matrix needs at least {} of the memory of {}, of which {} are tiles in flight, but {} of {} may be "
       "used",
       bytes_text(static_cast<double>(required)), engine.name(), bytes_text(static_cast<double>(tiles)),
       bytes_text(static_cast<double>(use.free)), bytes_text(static_cast<double>(use.total)));
}

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
