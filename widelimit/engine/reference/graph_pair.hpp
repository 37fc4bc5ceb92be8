#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <vector>

/// The recursion for one pair of graphs, node by node, directly from the formulas.      [docs/theory/graphs.md]
namespace widelimit::reference {

/// Σ(x,x) at each node before each step.
using GraphTraces = std::vector<std::vector<long double>>;

/// Receives each output, at a pair of nodes if the recipe ends at nodes; else u = v = 0.
using PutOutput = std::function<void(Index slot, Index u, Index v, long double value)>;

/// Evaluates graph `g` with itself.
[[nodiscard]] GraphTraces run_graph_self(const Recipe& recipe, const GraphView& graphs, Index g, const PutOutput& put);

/// One graph of a set and its traces from run_graph_self.
struct TracedGraph {
  const Graphs& graphs;
  Index g;
  const GraphTraces& traces;
};
/// Evaluates two graphs, treated as different ones even if they are equal.
void run_graph_pair(const Recipe& recipe, const TracedGraph& x1, const TracedGraph& x2, const PutOutput& put);

}  // namespace widelimit::reference
