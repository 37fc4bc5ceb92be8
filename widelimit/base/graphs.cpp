#include "widelimit/base/graphs.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

constexpr Index most_nodes = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t largest_tag = std::int64_t{1} << 53;

/// Returns all edges in both directions, sorted by first, then by second node.
std::vector<std::array<Index, 2>> directed_edges(const GraphSource& graph, Index g) {
  std::vector<std::array<Index, 2>> all;
  all.reserve(2 * graph.edges.size());
  for (const auto& [a, b] : graph.edges) {
    for (const Index node : {a, b}) {
      if (node < 0 || node >= graph.nodes) {
        fail(Code::input, "graph {}: the edge {}-{} refers to node {}, but its {} nodes are 0 to {}", g, a, b, node,
             graph.nodes, graph.nodes - 1);
      }
    }
    if (a == b) {
      fail(Code::input, "graph {}: node {} has an edge to itself; a node belongs to its neighbourhood anyway", g, a);
    }
    all.push_back({a, b});
  }
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end()) {
    fail(Code::input, "graph {}: the edge {}-{} is listed twice", g, (*twice)[0], (*twice)[1]);
  }
  std::vector<std::array<Index, 2>> missing;
  for (const auto& [a, b] : all) {
    if (!std::binary_search(all.begin(), all.end(), std::array{b, a})) missing.push_back({b, a});
  }
  if (graph.list == EdgeList::both_ends && !missing.empty()) {
    fail(Code::input, "graph {}: the edge {}-{} is listed at node {} only; graphs are undirected", g,
         missing.front()[1], missing.front()[0], missing.front()[1]);
  }
  if (!missing.empty() && missing.size() < all.size()) {
    const auto [b, a] = missing.front();
    const auto both = std::find_if(all.begin(), all.end(), [&](const std::array<Index, 2>& edge) {
      return std::binary_search(all.begin(), all.end(), std::array{edge[1], edge[0]});
    });
    fail(
        Code::input,
        "graph {}: the edge {}-{} is listed in both directions, but {}-{} in one only; list each edge once, or each in "
        "both directions",
        g, (*both)[0], (*both)[1], a, b);
  }
  all.insert(all.end(), missing.begin(), missing.end());
  std::sort(all.begin(), all.end());
  return all;
}

void append_features(Graphs& to, const GraphSource& graph, Index g) {
  const auto& rows = graph.features;
  if (to.count() > 0 && (to.tagged() || rows.cols != to.width)) {
    fail(Code::input, "graph {} has {} features per node, graph 0 has {}", g, rows.cols,
         to.tagged() ? std::string("tags") : std::to_string(to.width));
  }
  if (rows.rows != graph.nodes) {
    fail(Code::input, "graph {} has {} rows of features for {} nodes", g, rows.rows, graph.nodes);
  }
  for (Index u = 0; u < rows.rows; ++u) {
    const double* row = rows.row(u);
    const auto bad = std::find_if(row, row + rows.cols, [](double value) { return !std::isfinite(value); });
    if (bad != row + rows.cols) {
      fail(Code::input, "graph {}, node {}: feature {} is {}; remove or replace it first", g, u, bad - row, *bad);
    }
  }
  for (Index u = 0; u < rows.rows; ++u) to.features.insert(to.features.end(), rows.row(u), rows.row(u) + rows.cols);
  to.width = rows.cols;
}

/// `g` is the index of the graph in messages.
void append(Graphs& to, const GraphSource& graph, Index g) {
  if (graph.nodes < 1) fail(Code::input, "graph {} has no nodes", g);
  if (graph.nodes > most_nodes) fail(Code::input, "graph {} has {} nodes, more than {}", g, graph.nodes, most_nodes);
  if (graph.edges.empty()) fail(Code::input, "graph {} has no edges; leave it out", g);
  const auto all = directed_edges(graph, g);
  if (graph.features.cols > 0) {
    append_features(to, graph, g);
  } else {
    if (!to.tagged()) fail(Code::input, "graph {} has no features, graph 0 has {} per node", g, to.width);
    if (!graph.tags.empty() && std::ssize(graph.tags) != graph.nodes) {
      fail(Code::input, "graph {} has {} tags for {} nodes", g, graph.tags.size(), graph.nodes);
    }
    const auto large = std::find_if(graph.tags.begin(), graph.tags.end(),
                                    [](std::int64_t tag) { return tag > largest_tag || tag < -largest_tag; });
    if (large != graph.tags.end()) {
      fail(Code::input, "graph {}, node {}: the tag {} is beyond ±2⁵³, the range in which files store integers exactly",
           g, large - graph.tags.begin(), *large);
    }
    to.tags.insert(to.tags.end(), graph.tags.begin(), graph.tags.end());
  }
  auto edge = all.begin();
  for (Index u = 0; u < graph.nodes; ++u) {
    const auto begin = edge;
    for (; edge != all.end() && (*edge)[0] == u; ++edge) {
      to.neighbours.push_back(static_cast<std::int32_t>((*edge)[1]));
    }
    to.edges.push_back(std::ssize(to.neighbours));
    if (graph.features.cols == 0 && graph.tags.empty()) to.tags.push_back(edge - begin);
  }
  to.nodes.push_back(to.nodes.back() + graph.nodes);
}

}  // namespace

bool Graphs::operator==(const Graphs&) const = default;

std::size_t Graphs::bytes() const {
  return (nodes.size() + edges.size()) * sizeof(Index) + neighbours.size() * sizeof(std::int32_t) +
         tags.size() * sizeof(std::int64_t) + features.size() * sizeof(double);
}

void Graphs::validate() const {
  const auto ascending = [](const std::vector<Index>& places, Index last) {
    return !places.empty() && places.front() == 0 && places.back() == last &&
           std::is_sorted(places.begin(), places.end());
  };
  if (nodes.empty() || edges.empty() || !ascending(nodes, std::ssize(edges) - 1) ||
      !ascending(edges, std::ssize(neighbours))) {
    fail(Code::input, "the graph arrays are inconsistent: offsets do not ascend or do not match the array lengths");
  }
  if (tagged() ? std::ssize(tags) != node_count() || !features.empty()
               : width < 0 || std::ssize(features) != node_count() * width || !tags.empty()) {
    fail(Code::input, "the graphs have {} nodes, but the number of tags or features does not match", node_count());
  }
  for (Index g = 0; g < count(); ++g) {
    const Index first = nodes[usize(g)];
    const Index n = nodes[usize(g) + 1] - first;
    std::vector<std::array<Index, 2>> all;
    for (Index u = 0; u < n; ++u) {
      for (const std::int32_t v : neighbours_of(first + u)) all.push_back({u, v});
    }
    if (!std::is_sorted(all.begin(), all.end()))
      fail(Code::input, "graph {}: neighbours are not in ascending order", g);
    Graphs alone;
    GraphSource source{.nodes = n, .edges = all, .list = EdgeList::both_ends};
    if (tagged()) {
      source.tags = std::span(tags).subspan(usize(first), usize(n));
    } else {
      source.features = {features.data() + first * width, n, width, width};
    }
    append(alone, source, g);
  }
}

void append_graph(Graphs& to, const GraphSource& graph, std::optional<Index> index) {
  append(to, graph, index.value_or(to.count()));
}

GraphView GraphView::whole() const {
  if (!apart) return *this;
  if (rows == 0) return {graphs, 0, 0};
  const auto graph_of = [&](Index node) {
    return std::upper_bound(graphs->nodes.begin(), graphs->nodes.end(), node) - graphs->nodes.begin() - 1;
  };
  const Index first = graph_of(begin);
  return {graphs, first, graph_of(begin + rows - 1) + 1 - first};
}

std::uint64_t graphs_checksum(const GraphView& samples) {
  const Graphs& all = *samples.graphs;
  const GraphView graphs = samples.whole();
  std::uint64_t sum = all.tagged() ? sizeof(std::int64_t) : sizeof(double);
  if (samples.apart) sum ^= static_cast<std::uint64_t>(samples.begin) << 32 ^ static_cast<std::uint64_t>(samples.rows);
  for (Index g = 0; g < graphs.rows; ++g) {
    sum ^= static_cast<std::uint64_t>(graphs.nodes(g));
    for (Index u = graphs.first_node(g); u < graphs.first_node(g + 1); ++u) {
      const auto neighbours = all.neighbours_of(u);
      sum = checksum(std::as_bytes(neighbours), sum ^ neighbours.size());
      sum = all.tagged() ? checksum(std::as_bytes(std::span(&all.tags[usize(u)], 1)), sum)
                         : checksum(std::as_bytes(all.features_of(u)), sum);
    }
  }
  return sum;
}

Graphs copy_graphs(const GraphView& from) {
  std::vector<Index> all(usize(from.rows));
  std::iota(all.begin(), all.end(), Index{0});
  return gather_graphs(from, all);
}

Graphs gather_graphs(const GraphView& from, std::span<const Index> chosen) {
  if (from.apart) fail(Code::usage, "node samples depend on their graph and cannot be copied without it");
  const Graphs& all = *from.graphs;
  Graphs result;
  result.width = all.width;
  for (const Index g : chosen) {
    const Index first = from.first_node(g);
    const Index n = from.nodes(g);
    for (Index u = first; u < first + n; ++u) {
      const auto neighbours = all.neighbours_of(u);
      result.neighbours.insert(result.neighbours.end(), neighbours.begin(), neighbours.end());
      result.edges.push_back(std::ssize(result.neighbours));
      if (all.tagged()) {
        result.tags.push_back(all.tags[usize(u)]);
      } else {
        const auto row = all.features_of(u);
        result.features.insert(result.features.end(), row.begin(), row.end());
      }
    }
    result.nodes.push_back(result.nodes.back() + n);
  }
  return result;
}

}  // namespace widelimit
