#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/base/random.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace widelimit::test {

using Edges = std::vector<std::array<Index, 2>>;

/// Random graphs of 2 to `most` nodes: a tree plus a few edges, with tags or features.
inline Graphs random_graphs(Index count, Index most, std::uint64_t seed, Index width = 0) {
  const Random random(seed, 0);
  std::uint64_t at = 0;
  Graphs graphs;
  for (Index g = 0; g < count; ++g) {
    const Index n = 2 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most - 1), at++));
    Edges edges;
    for (Index u = 1; u < n; ++u) {
      edges.push_back({static_cast<Index>(random.below(static_cast<std::uint64_t>(u), at++)), u});
    }
    for (Index extra = 0; extra < n / 4; ++extra) {
      const auto a = static_cast<Index>(random.below(static_cast<std::uint64_t>(n), at++));
      const auto b = static_cast<Index>(random.below(static_cast<std::uint64_t>(n), at++));
      const std::array<Index, 2> edge{std::min(a, b), std::max(a, b)};
      if (a != b && std::find(edges.begin(), edges.end(), edge) == edges.end()) edges.push_back(edge);
    }
    std::vector<std::int64_t> tags;
    std::vector<double> features;
    for (Index u = 0; u < n; ++u) {
      if (width == 0) tags.push_back(static_cast<std::int64_t>(random.below(3, at++)));
      for (Index k = 0; k < width; ++k) features.push_back(random.normal(at++));
    }
    append_graph(
        graphs,
        {.nodes = n, .edges = edges, .tags = tags, .features = {features.data(), width > 0 ? n : 0, width, width}});
  }
  return graphs;
}

}  // namespace widelimit::test
