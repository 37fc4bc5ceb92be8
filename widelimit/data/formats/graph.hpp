#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/labels/split.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// An undirected graph with a tag on each node.
struct Graph {
  Index n = 0;
  std::vector<Index> tags;                     ///< index into GraphSet::tag_names
  std::vector<std::vector<Index>> neighbours;  ///< of each node, ascending, each edge at both its ends
};

struct GraphSet {
  std::string name;
  std::vector<Graph> graphs;
  std::vector<Index> labels;
  std::vector<std::string> class_names;  ///< the labels as written, in the order of their number
  std::vector<std::string> tag_names;    ///< likewise
  std::vector<SplitRows> folds;          ///< ten fixed partitions; empty where the source has none
};

/// The text format of the GIN code: the number of graphs; for each `n label`, then a line `tag m j₁ … jₘ` a node.
/// Error{input} with the line for anything malformed, a self-loop, a repeated or one-sided edge.
[[nodiscard]] GraphSet parse_graphs(std::string_view text, const std::string& source, const ReadLimits& limits = {});

/// True where all nodes have one tag, which tells nothing: their degrees are better tags (Du et al. 2019).
[[nodiscard]] bool degrees_as_tags(const GraphSet& set);
/// The graphs as samples of kernels, with the tags of the file or the degrees of the nodes. Error{input} names a graph
/// without nodes or edges.
[[nodiscard]] Graphs sample_graphs(const GraphSet& set, bool degrees);

/// `graphs` (plain or gz) and, where given, the `10fold_idx` archive beside it.
[[nodiscard]] GraphSet read_graphs(const std::filesystem::path& graphs, const std::filesystem::path& folds = {},
                                   const ReadLimits& limits = {});

/// Members `…/train_idx-K.txt`, `…/test_idx-K.txt` of an archive, K = 1, 2, …. Error{input} where a fold lacks a
/// part, or an index repeats or is not below `count`.
[[nodiscard]] std::vector<SplitRows> read_graph_folds(const std::filesystem::path& archive, Index count,
                                                      const ReadLimits& limits = {});

}  // namespace widelimit
