#pragma once

#include "widelimit/base/random.hpp"
#include "widelimit/base/sparse.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace widelimit {

/// n rows of d columns, of which about density·d are stored: normal values at places drawn by the seed.
inline SparseMatrix sparse_rows(Index n, Index d, double density, std::uint64_t seed) {
  const Random random(seed);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::uint64_t draw = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (random.uniform(++draw) >= density) continue;
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back(random.normal(++draw));
    }
    offsets.push_back(std::ssize(values));
  }
  return {d, std::move(offsets), std::move(columns), std::move(values)};
}

/// n rows of d columns with `stored` entries each, at random places: O(n·stored), whatever d.
inline SparseMatrix text_rows(Index n, Index d, Index stored, std::uint64_t seed) {
  const Random random(seed);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::uint64_t draw = 0;
  for (Index i = 0; i < n; ++i) {
    const Index stride = d / stored;  // one place in each of as many stretches
    for (Index k = 0; k < stored; ++k) {
      const auto within = static_cast<Index>(random.below(static_cast<std::uint64_t>(stride), ++draw));
      columns.push_back(static_cast<std::int32_t>(k * stride + within));
      values.push_back(1 + random.uniform(++draw));
    }
    offsets.push_back(std::ssize(values));
  }
  return {d, std::move(offsets), std::move(columns), std::move(values)};
}

}  // namespace widelimit
