#pragma once

#include "widelimit/engine/engine.hpp"

#include <algorithm>

/// K·v of a symmetric matrix that is evaluated block by block: each block above the diagonal contributes to both
/// triangles.
namespace widelimit {

/// Calls visit(rows, cols) for all blocks of a pair of ranges; only those on and above the diagonal if the ranges are
/// equal.
template <typename Visit>
void each_block(Range rows, Range cols, Index edge, const Visit& visit) {
  for (Index r = rows.begin; r < rows.end; r += edge) {
    for (Index c = rows.begin == cols.begin ? r : cols.begin; c < cols.end; c += edge) {
      visit(Range{r, std::min(rows.end, r + edge)}, Range{c, std::min(cols.end, c + edge)});
    }
  }
}

/// out[rows] += block·v[cols] and, for an off-diagonal block, out[cols] += blockᵀ·v[rows].
void add_block_product(const Algebra& algebra, const EngineMatrix& block, Range rows, Range cols,
                       MatrixView<const double> v, MatrixView<double> out);

}  // namespace widelimit
