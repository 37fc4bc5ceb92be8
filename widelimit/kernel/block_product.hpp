#pragma once

#include "widelimit/engine/engine.hpp"

#include <algorithm>

/// K·v of a symmetric matrix of which a block at a time lies on the engine: each block above the diagonal serves both
/// halves.
namespace widelimit {

/// visit(rows, cols) for the blocks of a pair of ranges, those on and above the diagonal where the ranges are the same.
template <typename Visit>
void each_block(Range rows, Range cols, Index edge, const Visit& visit) {
  for (Index r = rows.begin; r < rows.end; r += edge) {
    for (Index c = rows.begin == cols.begin ? r : cols.begin; c < cols.end; c += edge) {
      visit(Range{r, std::min(rows.end, r + edge)}, Range{c, std::min(cols.end, c + edge)});
    }
  }
}

/// out[rows] += block·v[cols] and, unless the block lies on the diagonal, out[cols] += blockᵀ·v[rows].
void add_block_product(const Algebra& algebra, const EngineMatrix& block, Range rows, Range cols,
                       MatrixView<const double> v, MatrixView<double> out);

}  // namespace widelimit
