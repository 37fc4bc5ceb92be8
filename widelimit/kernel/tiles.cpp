#include "widelimit/kernel/tiles.hpp"

#include "widelimit/backend/overflow.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/kernel/cut.hpp"

#include <atomic>
#include <cmath>

namespace widelimit {

namespace {

/// Counts finished pairs from any thread, tells the caller's Progress from its own.
class PairCounter {
 public:
  PairCounter(Progress* progress, Index total) : pulse_(progress, total, "pairs") {}
  void add(Index pairs) { done_ += pairs; }
  void tell() { pulse_.at(done_); }

 private:
  std::atomic<Index> done_ = 0;
  Pulse pulse_;
};

template <typename T>
std::vector<MatrixView<T>> blocks(const std::vector<MatrixView<T>>& outputs, Range rows, Range cols) {
  std::vector<MatrixView<T>> result;
  result.reserve(outputs.size());
  for (const auto& output : outputs) result.push_back(output.block(rows.begin, cols.begin, rows.size(), cols.size()));
  return result;
}

}  // namespace

template <std::floating_point T>
void fill_rectangle(const Backend& backend, const Recipe& recipe, const Loaded& x1, const Loaded& x2,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress) {
  const Index n1 = x1.count();
  const Index n2 = x2.count();
  const Index edge = cut_edge(n1, n2, backend.tile_edge(recipe, precision_of<T>));
  const std::vector<Tile> tiles = rectangle_tiles({0, n1}, {0, n2}, edge);
  PairCounter counter(progress, n1 * n2);
  backend.for_each(
      static_cast<Index>(tiles.size()),
      [&](Index k) {
        const auto& [rows, cols] = tiles[static_cast<std::size_t>(k)];
        backend.tile(recipe, x1, rows, x2, cols, blocks(outputs, rows, cols));
        counter.add(rows.size() * cols.size());
      },
      [&] { counter.tell(); });
}

template <std::floating_point T>
void fill_symmetric(const Backend& backend, const Recipe& recipe, const Loaded& x,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress) {
  const Index n = x.count();
  const Index edge = cut_edge(n, n, backend.tile_edge(recipe, precision_of<T>));
  Matrix<double> diagonal(recipe.outputs, n);
  backend.diagonal(recipe, x, diagonal.view());

  const std::vector<Tile> tiles = upper_tiles({0, n}, edge);
  PairCounter counter(progress, n * (n + 1) / 2);
  const auto fill = [&](const Tile& tile) {
    const auto& [rows, cols] = tile;
    const auto upper = blocks(outputs, rows, cols);
    backend.mirrored_tile(recipe, x, rows, cols, upper, blocks(outputs, cols, rows));
    counter.add(tile.upper_pairs());
    if (!tile.on_diagonal()) return;
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      for (Index i = rows.begin; i < rows.end; ++i) {
        const auto value = static_cast<T>(diagonal(static_cast<Index>(s), i));
        if (!std::isfinite(value)) report_overflow(static_cast<Index>(s), i, i, precision_of<T>);
        outputs[s](i, i) = value;
      }
    }
  };
  backend.for_each(
      static_cast<Index>(tiles.size()), [&](Index k) { fill(tiles[static_cast<std::size_t>(k)]); },
      [&] { counter.tell(); });
}

template void fill_rectangle(const Backend&, const Recipe&, const Loaded&, const Loaded&,
                             const std::vector<MatrixView<float>>&, Progress*);
template void fill_rectangle(const Backend&, const Recipe&, const Loaded&, const Loaded&,
                             const std::vector<MatrixView<double>>&, Progress*);
template void fill_symmetric(const Backend&, const Recipe&, const Loaded&, const std::vector<MatrixView<float>>&,
                             Progress*);
template void fill_symmetric(const Backend&, const Recipe&, const Loaded&, const std::vector<MatrixView<double>>&,
                             Progress*);

}  // namespace widelimit
