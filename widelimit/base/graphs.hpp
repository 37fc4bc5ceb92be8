#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

struct GraphView;

/// Undirected graphs, one after the other in shared arrays. A node carries a tag, which stands for the unit vector of
/// that tag, or a row of features; all nodes of a set carry the same.
struct Graphs {
  std::vector<Index> nodes{0};           ///< graph g has the nodes nodes[g] … nodes[g + 1] − 1
  std::vector<Index> edges{0};           ///< neighbours of node u: neighbours[edges[u]] … neighbours[edges[u + 1]]
  std::vector<std::int32_t> neighbours;  ///< counted within their graph, ascending, each edge at both its ends
  std::vector<std::int64_t> tags;        ///< of each node; empty where nodes have features
  std::vector<double> features;          ///< row by row, `width` numbers for each node; empty where they have tags
  Index width = 0;

  [[nodiscard]] Index count() const { return std::ssize(nodes) - 1; }
  [[nodiscard]] Index rows() const { return count(); }  ///< samples are rows elsewhere
  [[nodiscard]] Index cols() const { return shape().size(); }
  [[nodiscard]] GraphView view() const;
  [[nodiscard]] GraphView node_view() const;
  [[nodiscard]] Index node_count() const { return nodes.back(); }
  [[nodiscard]] bool tagged() const { return width == 0; }
  /// Of one sample: a tag is one channel.
  [[nodiscard]] Shape shape() const { return {1, 1, tagged() ? 1 : width, true}; }
  /// Of node u, counted over all graphs.
  [[nodiscard]] std::span<const std::int32_t> neighbours_of(Index u) const {
    return std::span(neighbours).subspan(usize(edges[usize(u)]), usize(edges[usize(u) + 1] - edges[usize(u)]));
  }
  [[nodiscard]] std::span<const double> features_of(Index u) const {
    return std::span(features).subspan(usize(u * width), usize(width));
  }
  [[nodiscard]] std::size_t bytes() const;

  /// Error{input} for arrays that are no graphs, as from a damaged file: names the graph and the node.
  void validate() const;
  bool operator==(const Graphs&) const;
};

/// How edges are written.
enum class EdgeList : std::uint8_t {
  undirected,  ///< an edge once, or once in each direction
  both_ends,   ///< an edge in both directions, as in an adjacency matrix
};

/// One graph as it comes from outside.
struct GraphSource {
  Index nodes = 0;
  std::span<const std::array<Index, 2>> edges = {};
  EdgeList list = EdgeList::undirected;
  std::span<const std::int64_t> tags = {};  ///< of each node, or none
  MatrixView<const double> features = {};   ///< a row for each node, or none; without either, the degree is the tag
};

/// Adds a graph behind the others. Error{input} names the graph by its place and the node: no nodes, no edges, an edge
/// that leaves the graph, joins a node with itself, stands twice or at one of its ends only, tags or features that are
/// missing, not finite, or of another width than those before.
void append_graph(Graphs& to, const GraphSource& graph);

/// Consecutive graphs of a set, borrowed; or, `apart`, consecutive nodes, each a sample of its own.
struct GraphView {
  const Graphs* graphs = nullptr;
  Index begin = 0;
  Index rows = 0;  ///< samples
  bool apart = false;

  // Of graph g of the view, where samples are graphs:
  [[nodiscard]] Index nodes(Index g) const { return first_node(g + 1) - first_node(g); }
  [[nodiscard]] Index first_node(Index g) const { return graphs->nodes[usize(begin + g)]; }

  /// The graphs that the samples are, or that they are nodes of.
  [[nodiscard]] GraphView whole() const;
  /// Nodes of those graphs.
  [[nodiscard]] Index node_count() const {
    const GraphView all = whole();
    return all.first_node(all.rows) - all.first_node(0);
  }
};

inline GraphView Graphs::view() const { return {this, 0, count()}; }
inline GraphView Graphs::node_view() const { return {this, 0, node_count(), true}; }

/// Of edges, tags and features: equal for equal graphs, in every process.
[[nodiscard]] std::uint64_t graphs_checksum(const GraphView& samples);

/// A copy of the graphs, all or those chosen. Error{usage} where samples are nodes.
[[nodiscard]] Graphs copy_graphs(const GraphView& from);
[[nodiscard]] Graphs gather_graphs(const GraphView& from, std::span<const Index> chosen);

}  // namespace widelimit
