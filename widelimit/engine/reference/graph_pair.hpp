#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <vector>

/// The recursion of one pair of graphs, node by node, by the formulas and nothing else.      [docs/theory/graphs.md]
namespace widelimit::reference {

/// Σ(x,x) at each node before each step.
using GraphTraces = std::vector<std::vector<long double>>;

/// Receives each output, at one pair of nodes where the recipe ends at nodes; else u = v = 0.
using PutOutput = std::function<void(Index slot, Index u, Index v, long double value)>;

/// Graph `g` with itself.
[[nodiscard]] GraphTraces run_graph_self(const Recipe& recipe, const GraphView& graphs, Index g, const PutOutput& put);

/// One graph of a set with what was found of it.
struct TracedGraph {
  const Graphs& graphs;
  Index g;
  const GraphTraces& traces;
};
/// Two graphs, as different ones.
void run_graph_pair(const Recipe& recipe, const TracedGraph& x1, const TracedGraph& x2, const PutOutput& put);

}  // namespace widelimit::reference
