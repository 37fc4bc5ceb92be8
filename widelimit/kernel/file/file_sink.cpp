#include "widelimit/kernel/file/file_sink.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/transpose.hpp"

#include <algorithm>
#include <mutex>

namespace widelimit {

namespace {

/// Buffers for one tile of each output and one transposed tile.
template <typename T>
struct TileMemory {
  std::vector<Matrix<T>> upper;
  Matrix<T> lower;
};

/// Pool of unused tile buffers.
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

/// Computes and stores the tiles of one task, by pairs of panels.
template <typename T>
class FileSink {
 public:
  FileSink(const FileTask& task, const Engine& engine, GramWriter& file, PairProgress& progress)
      : task_(task),
        recipe_(*task.gram.recipe),
        engine_(engine),
        file_(file),
        progress_(progress),
        edge_(task.edge(engine)),
        counts_(static_cast<std::size_t>(recipe_.outputs)) {}

  /// Verifies the checksums of tiles that a previous run recorded and computes the others. Statistics are added in the
  /// order of the tiles, so that the sum is independent of the threads.
  void take(const Panel& rows, const Panel& cols) {
    const std::vector<Tile> tiles = task_.tiles(rows.range(), cols.range(), engine_);
    std::vector<EntryCount> counts(tiles.size() * counts_.size());
    std::vector<char> good(tiles.size(), 0);
    if (file_.resumed()) {
      for_each(tiles.size(),
               [&](std::size_t k, Memory& memory) { good[k] = check(tiles[k], memory, counts_of(counts, k)) ? 1 : 0; });
    }
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      if (good[k] == 0) open.push_back(k);
    }
    if (!open.empty()) {
      load(rows);
      load(cols);
      if (task_.gram.symmetric() && rows.range().begin == cols.range().begin) {
        rows.diagonal([&](Index) { progress_.report(); });
      }
      for_each(open.size(), [&](std::size_t m, Memory& memory) {
        compute(tiles[open[m]], rows, cols, memory, counts_of(counts, open[m]));
      });
    }
    for (std::size_t k = 0; k < counts.size(); ++k) counts_[k % counts_.size()].add(counts[k]);
  }

  [[nodiscard]] const std::vector<EntryCount>& counts() const { return counts_; }

 private:
  using Memory = TileMemory<T>;

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
        [&](Index) { progress_.report(); });
  }

  void load(const Panel& panel) {
    panel.loaded([&](Index) { progress_.report(); });
  }

  static MatrixView<T> view(Matrix<T>& memory, Index rows, Index cols) { return {memory.data(), rows, cols, cols}; }
  const TiledMatrix& matrix(std::size_t s) const { return file_.matrix(task_.first_matrix + s); }
  [[nodiscard]] bool mirrored(const Tile& tile) const { return task_.gram.symmetric() && !tile.on_diagonal(); }

  /// Initial value of the checksum of a tile; depends on its position and size.
  std::uint64_t first_sum(const Tile& tile) const {
    const Index sizes[]{tile.rows.begin, tile.rows.end, tile.cols.begin, tile.cols.end};
    return checksum(std::as_bytes(std::span(sizes)), task_.number);
  }

  bool check(const Tile& tile, Memory& memory, std::span<EntryCount> counts) {
    const auto expected = file_.finished(task_.key(tile));
    if (!expected) return false;
    std::uint64_t sum = first_sum(tile);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      const MatrixView<T> upper = view(memory.upper[s], tile.rows.size(), tile.cols.size());
      file_.file().read(matrix(s), tile.rows.begin, tile.cols.begin, upper);
      sum = add_to_sum<T>(upper, sum);
      counts[s] = count(tile, upper);
      if (!mirrored(tile)) continue;
      const MatrixView<T> lower = view(memory.lower, tile.cols.size(), tile.rows.size());
      file_.file().read(matrix(s), tile.cols.begin, tile.rows.begin, lower);
      sum = add_to_sum<T>(lower, sum);
    }
    return sum == *expected;
  }

  void compute(const Tile& tile, const Panel& rows, const Panel& cols, Memory& memory, std::span<EntryCount> counts) {
    std::vector<MatrixView<T>> outputs;
    for (Matrix<T>& upper : memory.upper) outputs.push_back(view(upper, tile.rows.size(), tile.cols.size()));
    const Range row_range = rows.within(tile.rows);
    if (task_.gram.symmetric() && tile.on_diagonal()) {
      engine_.kernels().mirrored_tile(recipe_, rows.loaded(), row_range, row_range, outputs, outputs);
      set_diagonal<T>(rows.diagonal(), row_range, outputs);
    } else {
      engine_.kernels().tile(recipe_, rows.loaded(), row_range, cols.loaded(), cols.within(tile.cols), outputs);
    }

    std::uint64_t sum = first_sum(tile);
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      file_.file().write(matrix(s), tile.rows.begin, tile.cols.begin, MatrixView<const T>(outputs[s]));
      sum = add_to_sum<T>(outputs[s], sum);
      counts[s] = count(tile, outputs[s]);
      if (!mirrored(tile)) continue;
      const MatrixView<T> lower = view(memory.lower, tile.cols.size(), tile.rows.size());
      transpose(MatrixView<const T>(outputs[s]), lower);
      file_.file().write(matrix(s), tile.cols.begin, tile.rows.begin, MatrixView<const T>(lower));
      sum = add_to_sum<T>(lower, sum);
    }
    file_.record(task_.key(tile), sum);
    progress_.add(task_.pairs(tile));
  }

  EntryCount count(const Tile& tile, MatrixView<const T> upper) const {
    EntryCount result = count_entries(upper);
    if (mirrored(tile)) result.sum *= 2;
    if (task_.gram.symmetric() && tile.on_diagonal()) {
      for (Index i = 0; i < upper.rows; ++i) result.trace += static_cast<double>(upper(i, i));
    }
    return result;
  }

  const FileTask& task_;
  const Recipe& recipe_;
  const Engine& engine_;
  GramWriter& file_;
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

void EntryCount::write(bool symmetric, Entries& entries) const {
  const double count = static_cast<double>(entries.rows) * static_cast<double>(entries.cols);
  if (count == 0) return;
  entries.smallest = smallest;
  entries.largest = largest;
  entries.mean = sum / count;
  if (symmetric) entries.trace = trace;
}

std::vector<Tile> FileTask::tiles(Range rows, Range cols, const Engine& engine) const {
  return tiles_of(rows, cols, gram.symmetric() && rows.begin == cols.begin, edge(engine));
}

std::uint64_t FileTask::key(const Tile& tile) const {
  constexpr unsigned place_bits = 48;
  const Index place = tile.rows.begin * gram.columns().count() + tile.cols.begin;
  return number << place_bits | static_cast<std::uint64_t>(place);
}

std::size_t FileTask::tile_bytes(const Engine& engine) const {
  const auto length = static_cast<std::size_t>(edge(engine));
  // The outputs, one transposed tile, and the correlations from which the engine computes them.
  const std::size_t matrices = static_cast<std::size_t>(gram.recipe->outputs) + 1;
  return static_cast<std::size_t>(engine.threads()) * length * length *
         (matrices * size_of(gram.precision) + sizeof(double));
}

std::vector<EntryCount> write_tiles(const FileTask& task, const PanelPlan& plan, const Engine& engine, GramWriter& file,
                                    PairProgress& progress) {
  const auto write = [&](auto sink) {
    Traversal(task.gram, plan, engine).each_pair([&](const Panel& rows, const Panel& cols) { sink.take(rows, cols); });
    return sink.counts();
  };
  return task.gram.precision == Precision::f32 ? write(FileSink<float>(task, engine, file, progress))
                                               : write(FileSink<double>(task, engine, file, progress));
}

}  // namespace widelimit
