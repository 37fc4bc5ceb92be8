#include "widelimit/kernel/tiles.hpp"

#include "widelimit/kernel/file/cut.hpp"
#include "widelimit/kernel/own_pairs.hpp"
#include "widelimit/kernel/pair_progress.hpp"

namespace widelimit {

namespace {

template <typename T>
std::vector<MatrixView<T>> blocks(const std::vector<MatrixView<T>>& outputs, Range rows, Range cols) {
  std::vector<MatrixView<T>> result;
  result.reserve(outputs.size());
  for (const auto& output : outputs) result.push_back(output.block(rows.begin, cols.begin, rows.size(), cols.size()));
  return result;
}

}  // namespace

template <std::floating_point T>
void fill_rectangle(const Engine& engine, const Recipe& recipe, const Loaded& x1, const Loaded& x2,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress) {
  const Index n1 = x1.count();
  const Index n2 = x2.count();
  const Index edge = cut_edge(n1, n2, engine.kernels().tile_edge(recipe));
  const std::vector<Tile> tiles = rectangle_tiles({0, n1}, {0, n2}, edge);
  PairProgress pairs(progress, n1 * n2);
  engine.kernels().for_each(
      static_cast<Index>(tiles.size()),
      [&](Index k) {
        const auto& [rows, cols] = tiles[static_cast<std::size_t>(k)];
        engine.kernels().tile(recipe, x1, rows, x2, cols, blocks(outputs, rows, cols));
        pairs.add(rows.size() * cols.size());
      },
      [&] { pairs.tell(); });
}

template <std::floating_point T>
void fill_symmetric(const Engine& engine, const Recipe& recipe, const Loaded& x,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress) {
  const Index n = x.count();
  const Index edge = cut_edge(n, n, engine.kernels().tile_edge(recipe));
  Matrix<double> diagonal(recipe.outputs, n);
  engine.kernels().diagonal(recipe, x, diagonal.view());

  const std::vector<Tile> tiles = upper_tiles({0, n}, edge);
  PairProgress pairs(progress, n * (n + 1) / 2);
  const auto fill = [&](const Tile& tile) {
    const auto& [rows, cols] = tile;
    const auto upper = blocks(outputs, rows, cols);
    engine.kernels().mirrored_tile(recipe, x, rows, cols, upper, blocks(outputs, cols, rows));
    pairs.add(tile.upper_pairs());
    if (tile.on_diagonal()) set_own_pairs<T>(diagonal.view(), rows, upper);
  };
  engine.kernels().for_each(
      static_cast<Index>(tiles.size()), [&](Index k) { fill(tiles[static_cast<std::size_t>(k)]); },
      [&] { pairs.tell(); });
}

template void fill_rectangle(const Engine&, const Recipe&, const Loaded&, const Loaded&,
                             const std::vector<MatrixView<float>>&, Progress*);
template void fill_rectangle(const Engine&, const Recipe&, const Loaded&, const Loaded&,
                             const std::vector<MatrixView<double>>&, Progress*);
template void fill_symmetric(const Engine&, const Recipe&, const Loaded&, const std::vector<MatrixView<float>>&,
                             Progress*);
template void fill_symmetric(const Engine&, const Recipe&, const Loaded&, const std::vector<MatrixView<double>>&,
                             Progress*);

}  // namespace widelimit
