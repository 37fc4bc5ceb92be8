#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/engine/cpu/graph/sparse_rows.hpp"

#include <vector>

namespace widelimit::cpu {

/// Weisfeiler–Lehman colours of the nodes of one graph after 0, 1, …, `rounds` rounds: at first nodes of equal features
/// have equal colours, and each round tells nodes apart whose neighbours have other colours. What a network makes of a
/// node after k aggregations depends on its colour after k rounds alone, so that nodes of equal colour are one place,
/// exactly; places of round k + 1 refine those of round k.                                    [docs/theory/graphs.md]
class Colours {
 public:
  /// Without `merge`, each node keeps a colour of its own.  O(rounds·edges·log).
  Colours(const GraphView& graphs, Index g, Index rounds, bool merge);

  [[nodiscard]] Index places(Index round) const { return std::ssize(nodes_[usize(round)]); }
  /// A node of each colour, counted over all graphs of the set.
  [[nodiscard]] const std::vector<Index>& nodes(Index round) const { return nodes_[usize(round)]; }
  /// Of the nodes of the graph.
  [[nodiscard]] const std::vector<Index>& colours(Index round) const { return colours_[usize(round)]; }

  /// Row p: how often each place of `round` stands in the neighbourhood of place p of the next round, itself included.
  [[nodiscard]] SparseRows neighbourhoods(Index round) const;
  /// One row: how many nodes each place stands for.
  [[nodiscard]] SparseRows sizes(Index round) const;
  /// Row p: the place of `coarse` that place p of `fine` is part of.
  [[nodiscard]] SparseRows refinement(Index coarse, Index fine) const;

 private:
  void add_round(std::vector<Index> colours);

  GraphView graphs_;
  Index g_;
  std::vector<std::vector<Index>> colours_;  ///< by round, then by node
  std::vector<std::vector<Index>> nodes_;    ///< by round, then by place
};

}  // namespace widelimit::cpu
