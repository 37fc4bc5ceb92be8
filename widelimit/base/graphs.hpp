#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

struct GraphView;

/// Undirected graphs, concatenated in shared arrays (CSR). Each node has either a tag, which represents the unit vector
/// of that tag, or a feature vector; all nodes of a set use the same kind.
struct Graphs {
  std::vector<Index> nodes{0};           ///< graph g consists of nodes nodes[g] … nodes[g + 1] − 1
  std::vector<Index> edges{0};           ///< offsets: neighbours of node u are neighbours[edges[u]] …
                                         ///< neighbours[edges[u + 1] − 1]
  std::vector<std::int32_t> neighbours;  ///< indices within the graph, ascending; each edge is stored at both endpoints
  std::vector<std::int64_t> tags;        ///< per node; empty if nodes have features
  std::vector<double> features;          ///< row-major, `width` numbers per node; empty if nodes have tags
  Index width = 0;

  [[nodiscard]] Index count() const { return std::ssize(nodes) - 1; }
  [[nodiscard]] Index rows() const { return count(); }  ///< same as count(), as in matrices
  [[nodiscard]] Index cols() const { return shape().size(); }
  [[nodiscard]] GraphView view() const;
  [[nodiscard]] GraphView node_view() const;
  [[nodiscard]] Index node_count() const { return nodes.back(); }
  [[nodiscard]] bool tagged() const { return width == 0; }
  /// Shape of one sample; a tag counts as one channel.
  [[nodiscard]] Shape shape() const { return {1, 1, tagged() ? 1 : width, true}; }
  /// Neighbours of node u; u is an index over all graphs.
  [[nodiscard]] std::span<const std::int32_t> neighbours_of(Index u) const {
    return std::span(neighbours).subspan(usize(edges[usize(u)]), usize(edges[usize(u) + 1] - edges[usize(u)]));
  }
  [[nodiscard]] std::span<const double> features_of(Index u) const {
    return std::span(features).subspan(usize(u * width), usize(width));
  }
  [[nodiscard]] std::size_t bytes() const;

  /// Throws Error{input} with the graph and the node if the arrays are inconsistent, e.g. from a corrupted file.
  void validate() const;
  bool operator==(const Graphs&) const;
};

/// Convention of an edge list.
enum class EdgeList : std::uint8_t {
  undirected,  ///< all edges once, or all edges once in each direction
  both_ends,   ///< each edge in both directions, as in an adjacency matrix
};

/// Input description of one graph.
struct GraphSource {
  Index nodes = 0;
  std::span<const std::array<Index, 2>> edges = {};
  EdgeList list = EdgeList::undirected;
  std::span<const std::int64_t> tags = {};  ///< one per node, or empty
  MatrixView<const double> features = {};   ///< one row per node, or empty; without tags and features, the degree is
                                            ///< used as the tag
};

/// Appends a graph. Throws Error{input} with the index of the graph and the node if there are no nodes or no edges; if
/// an edge has an endpoint outside the graph, is a self-loop, is duplicated, or is listed in one direction where others
/// are listed in both; or if tags or features are missing, not finite, or of another width than in earlier graphs.
/// `index` replaces the number of the graph in messages.
void append_graph(Graphs& to, const GraphSource& graph, std::optional<Index> index = std::nullopt);

/// Non-owning view of consecutive graphs, or, if `apart`, of consecutive nodes, each of which is one sample.
struct GraphView {
  const Graphs* graphs = nullptr;
  Index begin = 0;
  Index rows = 0;  ///< samples
  bool apart = false;

  // For graph g of the view; valid if samples are graphs:
  [[nodiscard]] Index nodes(Index g) const { return first_node(g + 1) - first_node(g); }
  [[nodiscard]] Index first_node(Index g) const { return graphs->nodes[usize(begin + g)]; }

  /// View of the graphs that the samples are or belong to.
  [[nodiscard]] GraphView whole() const;
  /// Number of nodes of these graphs.
  [[nodiscard]] Index node_count() const {
    const GraphView all = whole();
    return all.first_node(all.rows) - all.first_node(0);
  }
};

inline GraphView Graphs::view() const { return {this, 0, count()}; }
inline GraphView Graphs::node_view() const { return {this, 0, node_count(), true}; }

/// Returns a checksum of edges, tags and features; equal for equal graphs in every process.
[[nodiscard]] std::uint64_t graphs_checksum(const GraphView& samples);

/// Returns a copy of all graphs, or of the chosen ones. Throws Error{usage} if samples are nodes.
[[nodiscard]] Graphs copy_graphs(const GraphView& from);
[[nodiscard]] Graphs gather_graphs(const GraphView& from, std::span<const Index> chosen);

}  // namespace widelimit
