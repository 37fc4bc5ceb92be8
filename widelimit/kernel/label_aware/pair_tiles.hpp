#pragma once

#include "widelimit/engine/host/compensated_pass.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/kernel/label_aware/pair_features.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// Edge of the tiles of pairs, and number of rows of the Gram matrix that are read at a time.
inline constexpr Index pair_tile = 128;
inline constexpr Index pair_strip = 2 * pair_tile;

/// Splits a range into parts of length `edge`; the last one may be shorter.
[[nodiscard]] inline std::vector<Range> cut(Range whole, Index edge) {
  std::vector<Range> parts;
  for (Index begin = whole.begin; begin < whole.end; begin += edge) {
    parts.push_back({begin, std::min(whole.end, begin + edge)});
  }
  return parts;
}

/// Blocks of a strip of rows in the columns of one tile; unless `all`, only those on and above the diagonal.
[[nodiscard]] inline std::vector<PairBlock> blocks_of(Range strip, Range cols, bool all) {
  std::vector<PairBlock> blocks;
  for (const Range rows : cut(strip, pair_tile)) {
    if (all || rows.begin <= cols.begin) blocks.push_back({rows, cols});
  }
  return blocks;
}

/// Weight of a block in sums over ordered pairs: 2 above the diagonal, 1 on it.
[[nodiscard]] inline double pair_weight(const PairBlock& block) { return block.rows.begin == block.cols.begin ? 1 : 2; }

/// Iterates once over all ordered pairs of training samples: take(part(block, Θ of the block), weight) for the blocks
/// on and above the diagonal, those above with weight 2. `prepare` creates a `part` for the blocks of one strip in one
/// tile of columns; both run on the threads of the engine. `take` runs on the calling thread in a fixed order, so that
/// sums do not depend on the number of threads. Holds one strip of the Gram matrix, from its own columns on;
/// before_strip(strip) and after_strip(strip, rows) are called before and after its blocks.
template <typename Prepare, typename Take, typename Before, typename After>
void over_pairs(const GramMatrix& k, Progress* progress, const Prepare& prepare, const Take& take,
                const Before& before_strip, const After& after_strip) {
  using Part = decltype(prepare(Range{})(PairBlock{}, MatrixView<const double>{}));
  const Index n = k.samples();
  ProgressTicker ticker(progress, n * (n + 1) / 2, "pairs");
  for (const Range strip : cut({0, n}, pair_strip)) {
    const Matrix<double> rows = k.rows(strip.begin, strip.size(), strip.begin);
    before_strip(strip);
    const std::vector<Range> columns = cut({strip.begin, n}, pair_tile);
    std::vector<std::vector<Part>> parts(columns.size());
    const Index before = strip.begin * n - strip.begin * (strip.begin - 1) / 2;
    const auto pairs = static_cast<double>(strip.size()) * static_cast<double>(n - strip.begin);
    k.engine().for_each(
        std::ssize(columns),
        [&](Index task) {
          const auto part = prepare(columns[usize(task)]);
          for (const PairBlock& block : blocks_of(strip, columns[usize(task)], false)) {
            parts[usize(task)].push_back(
                part(block, rows.view().block(block.rows.begin - strip.begin, block.cols.begin - strip.begin,
                                              block.rows.size(), block.cols.size())));
          }
        },
        [&](Index done) {
          ticker.at(before +
                    static_cast<Index>(pairs * static_cast<double>(done) / static_cast<double>(columns.size())));
        });
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::vector<PairBlock> blocks = blocks_of(strip, columns[c], false);
      for (std::size_t b = 0; b < blocks.size(); ++b) take(parts[c][b], pair_weight(blocks[b]));
    }
    after_strip(strip, rows.view());
  }
}

/// The same if `part` needs no preparation.
template <typename Part, typename Take>
void over_pairs(const GramMatrix& k, Progress* progress, const Part& part, const Take& take) {
  over_pairs(
      k, progress, [&](Range) { return std::cref(part); }, take, [](Range) {}, [](Range, MatrixView<const double>) {});
}

/// Element-wise sums of many vectors, accumulated in twice the precision of float64.
class CompensatedSums {
 public:
  explicit CompensatedSums(Index count) : high_(usize(count), 0.0), low_(usize(count), 0.0) {}
  void add(std::span<const double> part, double weight) {
    host::accumulate(part.data(), weight, high_.data(), low_.data(), std::ssize(part));
  }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> sums(high_.size());
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = high_[k] + low_[k];
    return sums;
  }

 private:
  std::vector<double> high_;
  std::vector<double> low_;
};

/// Packed left side of the pairs of a strip, tile by tile.
class StripPanels {
 public:
  /// Calls make(rows) for each tile on the threads of the engine.
  template <typename Make>
  StripPanels(Range strip, const Engine& engine, const Make& make) : strip_(strip) {
    const std::vector<Range> tiles = cut(strip, pair_tile);
    panels_.resize(tiles.size());
    engine.for_each(std::ssize(tiles), [&](Index task) { panels_[usize(task)] = make(tiles[usize(task)]); });
  }
  [[nodiscard]] const host::PairPanel& of(const PairBlock& block) const {
    return panels_[usize((block.rows.begin - strip_.begin) / pair_tile)];
  }

 private:
  Range strip_;
  std::vector<host::PairPanel> panels_;
};

}  // namespace widelimit
