#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/kernel/label_aware/pair_features.hpp"

#include <algorithm>
#include <vector>

namespace widelimit {

/// Edge of the tiles into which pairs are cut, and samples whose rows of the Gram matrix are read at a time.
inline constexpr Index pair_tile = 128;
inline constexpr Index pair_strip = 2 * pair_tile;

/// Ranges of `edge`, the last one shorter.
[[nodiscard]] inline std::vector<Range> cut(Range whole, Index edge) {
  std::vector<Range> parts;
  for (Index begin = whole.begin; begin < whole.end; begin += edge) {
    parts.push_back({begin, std::min(whole.end, begin + edge)});
  }
  return parts;
}

/// Goes once over all ordered pairs of training samples: take(part(block, Θ of the block), weight) for the blocks on
/// and above the diagonal, those above with weight 2. `part` runs on the threads of the engine, `take` on the calling
/// thread in a fixed order, so that sums do not depend on the number of threads. A strip of the Gram matrix is held;
/// before(strip) and after(strip, its rows) are called around its blocks.
template <typename Part, typename Take, typename Before, typename After>
void over_pairs(const GramMatrix& k, Progress* progress, const Part& part, const Take& take, const Before& before_strip,
                const After& after_strip) {
  const Index n = k.samples();
  ProgressTicker ticker(progress, n * (n + 1) / 2, "pairs");
  for (const Range strip : cut({0, n}, pair_strip)) {
    const Matrix<double> rows = k.rows(strip.begin, strip.size());
    before_strip(strip);
    std::vector<PairBlock> blocks;
    for (const Range r : cut(strip, pair_tile)) {
      for (const Range c : cut({r.begin, n}, pair_tile)) blocks.push_back({r, c});
    }
    std::vector<decltype(part(blocks.front(), rows.view()))> parts(blocks.size());
    const Index before = strip.begin * n - strip.begin * (strip.begin - 1) / 2;
    const auto pairs = static_cast<double>(strip.size()) * static_cast<double>(n - strip.begin);
    k.engine().for_each(
        std::ssize(blocks),
        [&](Index task) {
          const PairBlock& block = blocks[usize(task)];
          parts[usize(task)] = part(block, rows.view().block(block.rows.begin - strip.begin, block.cols.begin,
                                                             block.rows.size(), block.cols.size()));
        },
        [&](Index done) {
          ticker.at(before +
                    static_cast<Index>(pairs * static_cast<double>(done) / static_cast<double>(blocks.size())));
        });
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      take(parts[b], blocks[b].rows.begin == blocks[b].cols.begin ? 1.0 : 2.0);
    }
    after_strip(strip, rows.view());
  }
}

template <typename Part, typename Take>
void over_pairs(const GramMatrix& k, Progress* progress, const Part& part, const Take& take) {
  over_pairs(
      k, progress, part, take, [](Range) {}, [](Range, MatrixView<const double>) {});
}

}  // namespace widelimit
