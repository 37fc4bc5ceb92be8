#pragma once

#include "widelimit/base/random.hpp"
#include "widelimit/base/sparse.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace widelimit {

/// Returns n rows of d columns; fill_row(i, put) calls put(column, value) for the entries of row i, columns ascending.
template <typename FillRow>
SparseMatrix rows_by(Index n, Index d, const FillRow& fill_row) {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) {
    fill_row(i, [&](Index column, double value) {
      columns.push_back(static_cast<std::int32_t>(column));
      values.push_back(value);
    });
    offsets.push_back(std::ssize(values));
  }
  return {d, std::move(offsets), std::move(columns), std::move(values)};
}

/// Returns n rows of d columns with about density·d stored normal values at random columns.
inline SparseMatrix sparse_rows(Index n, Index d, double density, std::uint64_t seed) {
  const Random random(seed);
  std::uint64_t draw = 0;
  return rows_by(n, d, [&](Index, const auto& put) {
    for (Index j = 0; j < d; ++j) {
      if (random.uniform(++draw) < density) put(j, random.normal(++draw));
    }
  });
}

/// Returns n rows of d columns with `stored` entries each at random columns. O(n·stored), independent of d.
inline SparseMatrix text_rows(Index n, Index d, Index stored, std::uint64_t seed) {
  const Random random(seed);
  std::uint64_t draw = 0;
  const Index stride = d / stored;  // one column in each of `stored` segments
  return rows_by(n, d, [&](Index, const auto& put) {
    for (Index k = 0; k < stored; ++k) {
      const auto within = static_cast<Index>(random.below(static_cast<std::uint64_t>(stride), ++draw));
      put(k * stride + within, 1 + random.uniform(++draw));
    }
  });
}

}  // namespace widelimit
