#include "widelimit/kernel/block_work.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/tiles.hpp"

#include <algorithm>
#include <mutex>

namespace widelimit {

namespace {

/// Samples of a range, loaded when they are first needed.
struct Panel {
  const SampleView* samples;
  Range range;
  std::unique_ptr<Loaded> loaded;
  Matrix<double> diagonal;  ///< outputs × samples, of each with itself
};

/// One tile of each output and its mirror image.
template <typename T>
struct TileMemory {
  std::vector<Matrix<T>> upper;
  Matrix<T> lower;
};

/// Memory of tiles that are not under way.
template <typename T>
class TilePool {
 public:
  std::unique_ptr<TileMemory<T>> take(Index outputs, Index size) {
    const std::lock_guard lock(guard_);
    if (!free_.empty()) {
      auto memory = std::move(free_.back());
      free_.pop_back();
      return memory;
    }
    auto memory = std::make_unique<TileMemory<T>>();
    for (Index s = 0; s < outputs; ++s) memory->upper.emplace_back(1, size);
    memory->lower = Matrix<T>(1, size);
    return memory;
  }
  void give(std::unique_ptr<TileMemory<T>> memory) {
    const std::lock_guard lock(guard_);
    free_.push_back(std::move(memory));
  }

 private:
  std::mutex guard_;
  std::vector<std::unique_ptr<TileMemory<T>>> free_;
};

template <typename T>
EntryCount count_entries(MatrixView<const T> tile) {
  T smallest = tile(0, 0);
  T largest = tile(0, 0);
  EntryCount count;
  for (Index i = 0; i < tile.rows; ++i) {
    const T* row = tile.row(i);
    double sum = 0;
#pragma omp simd reduction(min : smallest) reduction(max : largest) reduction(+ : sum)
    for (Index j = 0; j < tile.cols; ++j) {
      smallest = std::min(smallest, row[j]);
      largest = std::max(largest, row[j]);
      sum += static_cast<double>(row[j]);
    }
    count.sum += sum;
  }
  count.smallest = static_cast<double>(smallest);
  count.largest = static_cast<double>(largest);
  return count;
}

template <typename T>
std::uint64_t add_to_sum(MatrixView<const T> tile, std::uint64_t sum) {
  return checksum(std::as_bytes(std::span(tile.data, static_cast<std::size_t>(tile.rows * tile.cols))), sum);
}

/// The tiles of one job, panel by panel.
template <typename T>
class BlockWork {
 public:
  BlockWork(const BlockJob& job, const Engine& engine, GramStore& store, PairProgress& progress)
      : job_(job),
        recipe_(*job.recipe),
        engine_(engine),
        store_(store),
        progress_(progress),
        edge_(job.edge(engine)),
        counts_(static_cast<std::size_t>(recipe_.outputs)) {}

  std::vector<EntryCount> run(const PanelPlan& plan) {
    Panel rows{&job_.x1, {}, nullptr, {}};
    each_panel_pair(job_, plan, edge_, [&](Range row_range, Range col_range, const std::vector<Tile>& tiles) {
      if (rows.range.begin != row_range.begin || rows.range.end != row_range.end) {
        rows = Panel{&job_.x1, row_range, nullptr, {}};
      }
      Panel cols{&job_.columns(), col_range, nullptr, {}};
      const bool square = job_.symmetric() && row_range.begin == col_range.begin;
      run_tiles(tiles, rows, square ? rows : cols);
    });
    return counts_;
  }

 private:
  using Memory = TileMemory<T>;

  /// Tiles that an earlier run recorded are compared with their checksums, the others computed. Statistics are added in
  /// the order of the tiles, so that the sum does not depend on the threads.
  void run_tiles(const std::vector<Tile>& tiles, Panel& rows, Panel& cols) {
    std::vector<EntryCount> counts(tiles.size() * counts_.size());
    std::vector<char> good(tiles.size(), 0);
    if (store_.resumed()) {
      for_each(tiles.size(),
               [&](std::size_t k, Memory& memory) { good[k] = check(tiles[k], memory, counts_of(counts, k)) ? 1 : 0; });
    }
    const auto missing = static_cast<std::size_t>(std::count(good.begin(), good.end(), 0));
    if (missing > 0) {
      load(rows);
      if (&rows != &cols) load(cols);
      try {
        std::vector<std::size_t> open;
        for (std::size_t k = 0; k < tiles.size(); ++k) {
          if (good[k] == 0) open.push_back(k);
        }
        for_each(open.size(), [&](std::size_t m, Memory& memory) {
          compute(tiles[open[m]], rows, cols, memory, counts_of(counts, open[m]));
        });
      } catch (const Error& error) {
        if (error.code() != Code::numerical || (rows.range.begin == 0 && cols.range.begin == 0)) throw;
        fail(Code::numerical, "{} (rows counted from sample {}, columns from sample {})", error.what(),
             rows.range.begin, cols.range.begin);
      }
    }
    for (std::size_t k = 0; k < counts.size(); ++k) counts_[k % counts_.size()].add(counts[k]);
  }

  std::span<EntryCount> counts_of(std::vector<EntryCount>& counts, std::size_t tile) const {
    return std::span(counts).subspan(tile * counts_.size(), counts_.size());
  }

  template <typename Task>
  void for_each(std::size_t count, const Task& task) {
    engine_.for_each(
        static_cast<Index>(count),
        [&](Index k) {
          auto memory = pool_.take(recipe_.outputs, edge_ * edge_);
          task(static_cast<std::size_t>(k), *memory);
          pool_.give(std::move(memory));
        },
        [&](Index) { progress_.tell(); });
  }

  void load(Panel& panel) {
    if (panel.loaded) return;
    panel.loaded = engine_.kernels().load(recipe_, panel.samples->part(panel.range.begin, panel.range.size()),
                                          precision_of<T>, [&](Index) { progress_.tell(); });
    panel.diagonal = Matrix<double>(recipe_.outputs, panel.range.size());
    if (job_.symmetric()) engine_.kernels().diagonal(recipe_, *panel.loaded, panel.diagonal.view());
  }

  static MatrixView<T> view(Matrix<T>& memory, Index rows, Index cols) { return {memory.data(), rows, cols, cols}; }
  const TiledMatrix& matrix(std::size_t s) const { return store_.matrix(job_.first_matrix + s); }
  [[nodiscard]] bool mirrored(const Tile& tile) const { return job_.symmetric() && !tile.on_diagonal(); }

  /// Where every checksum of a tile begins: another tile, or another cut, has another one.
  std::uint64_t first_sum(const Tile& tile) const {
    const Index sizes[]{tile.rows.begin, tile.rows.end, tile.cols.begin, tile.cols.end};
    return checksum(std::as_bytes(std::span(sizes)), job_.number);
  }

  bool check(const Tile& tile, Memory& memory, std::span<EntryCount> counts) {
    const auto expected = store_.finished(job_.key(tile));
    if (!expected) return false;
    std::uint64_t sum = first_sum(tile);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      const MatrixView<T> upper = view(memory.upper[s], tile.rows.size(), tile.cols.size());
      store_.file().read(matrix(s), tile.rows.begin, tile.cols.begin, upper);
      sum = add_to_sum<T>(upper, sum);
      counts[s] = count(tile, upper);
      if (!mirrored(tile)) continue;
      const MatrixView<T> lower = view(memory.lower, tile.cols.size(), tile.rows.size());
      store_.file().read(matrix(s), tile.cols.begin, tile.rows.begin, lower);
      sum = add_to_sum<T>(lower, sum);
    }
    return sum == *expected;
  }

  void compute(const Tile& tile, const Panel& rows, const Panel& cols, Memory& memory, std::span<EntryCount> counts) {
    std::vector<MatrixView<T>> outputs;
    for (Matrix<T>& upper : memory.upper) outputs.push_back(view(upper, tile.rows.size(), tile.cols.size()));
    const auto within = [](Range range, const Panel& panel) {
      return Range{range.begin - panel.range.begin, range.end - panel.range.begin};
    };
    const Range row_range = within(tile.rows, rows);
    if (job_.symmetric() && tile.on_diagonal()) {
      engine_.kernels().mirrored_tile(recipe_, *rows.loaded, row_range, row_range, outputs, outputs);
      set_diagonal<T>(rows.diagonal.view(), row_range, outputs);
    } else {
      engine_.kernels().tile(recipe_, *rows.loaded, row_range, *cols.loaded, within(tile.cols, cols), outputs);
    }

    std::uint64_t sum = first_sum(tile);
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      store_.file().write(matrix(s), tile.rows.begin, tile.cols.begin, MatrixView<const T>(outputs[s]));
      sum = add_to_sum<T>(outputs[s], sum);
      counts[s] = count(tile, outputs[s]);
      if (!mirrored(tile)) continue;
      const MatrixView<T> lower = view(memory.lower, tile.cols.size(), tile.rows.size());
      transpose(MatrixView<const T>(outputs[s]), lower);
      store_.file().write(matrix(s), tile.cols.begin, tile.rows.begin, MatrixView<const T>(lower));
      sum = add_to_sum<T>(lower, sum);
    }
    store_.record(job_.key(tile), sum);
    progress_.add(job_.pairs(tile));
  }

  EntryCount count(const Tile& tile, MatrixView<const T> upper) const {
    EntryCount result = count_entries(upper);
    if (mirrored(tile)) result.sum *= 2;
    if (job_.symmetric() && tile.on_diagonal()) {
      for (Index i = 0; i < upper.rows; ++i) result.trace += static_cast<double>(upper(i, i));
    }
    return result;
  }

  const BlockJob& job_;
  const Recipe& recipe_;
  const Engine& engine_;
  GramStore& store_;
  PairProgress& progress_;
  Index edge_;
  TilePool<T> pool_;
  std::vector<EntryCount> counts_;
};

}  // namespace

void EntryCount::add(const EntryCount& other) {
  smallest = std::min(smallest, other.smallest);
  largest = std::max(largest, other.largest);
  sum += other.sum;
  trace += other.trace;
}

std::uint64_t BlockJob::key(const Tile& tile) const {
  constexpr unsigned place_bits = 48;
  const Index place = tile.rows.begin * columns().count() + tile.cols.begin;
  return number << place_bits | static_cast<std::uint64_t>(place);
}

std::size_t tile_bytes(const Engine& engine, const BlockJob& job, Precision precision) {
  const auto edge = static_cast<std::size_t>(job.edge(engine));
  const std::size_t entry = precision == Precision::f32 ? 4 : 8;
  // The outputs, one of them mirrored, and the correlations the back end starts from.
  const std::size_t tiles = static_cast<std::size_t>(job.recipe->outputs) + 1;
  return static_cast<std::size_t>(engine.threads()) * edge * edge * (tiles * entry + sizeof(double));
}

void each_panel_pair(const BlockJob& job, const PanelPlan& plan, Index edge, const PanelVisit& visit) {
  const Index n1 = job.x1.count();
  const Index n2 = job.columns().count();
  for (Index row = 0; row < n1; row += plan.rows) {
    const Range rows{row, std::min(n1, row + plan.rows)};
    if (job.symmetric()) visit(rows, rows, upper_tiles(rows, edge));
    for (Index col = job.symmetric() ? rows.end : 0; col < n2; col += plan.cols) {
      const Range cols{col, std::min(n2, col + plan.cols)};
      visit(rows, cols, rectangle_tiles(rows, cols, edge));
    }
  }
}

template <std::floating_point T>
std::vector<EntryCount> run_block(const BlockJob& job, const PanelPlan& plan, const Engine& engine, GramStore& store,
                                  PairProgress& progress) {
  return BlockWork<T>(job, engine, store, progress).run(plan);
}

template std::vector<EntryCount> run_block<float>(const BlockJob&, const PanelPlan&, const Engine&, GramStore&,
                                                  PairProgress&);
template std::vector<EntryCount> run_block<double>(const BlockJob&, const PanelPlan&, const Engine&, GramStore&,
                                                   PairProgress&);

}  // namespace widelimit
