#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/labels/split.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Undirected graph with a tag on each node.
struct Graph {
  Index n = 0;
  std::vector<Index> tags;                     ///< index into GraphSet::tag_names
  std::vector<std::vector<Index>> neighbours;  ///< sorted adjacency list of each node; each edge is stored at both ends
};

struct GraphSet {
  std::string name;
  std::vector<Graph> graphs;
  std::vector<Index> labels;             ///< empty if read without labels
  std::vector<std::string> class_names;  ///< labels as written, sorted numerically
  std::vector<std::string> tag_names;    ///< tags as written, sorted numerically
  std::vector<SplitRows> folds;          ///< the fixed partitions of the source; empty if it has none
};

/// Parses the text format of the GIN code: the number of graphs; then for each graph a line `n label`, and a line `tag
/// m j₁ … jₘ` per node. If not `labelled`, labels are ignored and may be missing. Throws Error{input} with the line for
/// malformed text, missing labels, self-loops, and repeated or one-sided edges.
[[nodiscard]] GraphSet parse_graphs(std::string_view text, const std::string& source, const ReadLimits& limits = {},
                                    bool labelled = true);

/// Returns true if all nodes have the same tag: degrees are then more informative tags (Du et al. 2019).
[[nodiscard]] bool degrees_as_tags(const GraphSet& set);
/// Returns the graphs as samples, with the tags of the file or the node degrees as tags. Throws Error{input} with the
/// graph if it has no nodes or edges.
[[nodiscard]] Graphs sample_graphs(const GraphSet& set, bool degrees);

/// Reads `graphs` (plain or gz) and, if given, the `10fold_idx` archive next to it.
[[nodiscard]] GraphSet read_graphs(const std::filesystem::path& graphs, const std::filesystem::path& folds = {},
                                   const ReadLimits& limits = {}, bool labelled = true);

/// Reads the members `…/train_idx-K.txt`, `…/test_idx-K.txt` of an archive, K = 1, 2, …. Throws Error{input} if a fold
/// lacks a part, or an index is repeated or not below `count`.
[[nodiscard]] std::vector<SplitRows> read_graph_folds(const std::filesystem::path& archive, Index count,
                                                      const ReadLimits& limits = {});

}  // namespace widelimit
