#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/engine/cpu/graph/sparse_rows.hpp"

#include <vector>

namespace widelimit::cpu {

/// Weisfeiler–Lehman colours of the nodes of one graph after 0, 1, …, `rounds` rounds: initially, nodes with equal
/// features have equal colours; each round separates nodes with differently coloured neighbours. The state of a node
/// after k aggregations depends only on its colour after k rounds, so nodes of equal colour can be merged exactly into
/// one place; the places of round k + 1 refine those of round k.
/// [docs/theory/graphs.md]
class Colours {
 public:
  /// If `merge` is false, each node keeps its own colour.  O(rounds·edges·log).
  Colours(const GraphView& graphs, Index g, Index rounds, bool merge);

  [[nodiscard]] Index places(Index round) const { return std::ssize(nodes_[usize(round)]); }
  /// Representative node of each colour, indexed over all graphs of the set.
  [[nodiscard]] const std::vector<Index>& nodes(Index round) const { return nodes_[usize(round)]; }
  /// Colours of the nodes of the graph.
  [[nodiscard]] const std::vector<Index>& colours(Index round) const { return colours_[usize(round)]; }

  /// Row p: multiplicity of each place of `round` in the closed neighbourhood of place p of the next round.
  [[nodiscard]] SparseRows neighbourhoods(Index round) const;
  /// One row: number of nodes of each place.
  [[nodiscard]] SparseRows sizes(Index round) const;
  /// Row p: the place of `coarse` that contains place p of `fine`.
  [[nodiscard]] SparseRows refinement(Index coarse, Index fine) const;

 private:
  void add_round(std::vector<Index> colours);

  GraphView graphs_;
  Index g_;
  std::vector<std::vector<Index>> colours_;  ///< by round and node
  std::vector<std::vector<Index>> nodes_;    ///< by round and place
};

}  // namespace widelimit::cpu
