#pragma once

#include "widelimit/engine/cpu/graph/graph_program.hpp"
#include "widelimit/engine/cpu/graph/graph_trace.hpp"

#include <functional>
#include <span>
#include <vector>

/// The per-sample part of networks on graphs, the same for every engine that evaluates pairs from it.
namespace widelimit::cpu {

/// One graph on its own.
struct TracedGraph {
  std::vector<Index> places;   ///< by rounds
  std::vector<Index> colours;  ///< of its nodes after the last round, where nodes are samples
  GraphInput input;
  GraphTrace trace;
};
/// The graphs that samples are, or that they are nodes of.
[[nodiscard]] std::vector<TracedGraph> trace_graphs(const Recipe& recipe, const GraphProgram& program,
                                                    const GraphView& samples, Precision precision, int threads,
                                                    const std::function<void(Index done)>& after);

/// Features of step k at the places of some graphs, one after the other.
[[nodiscard]] Features graph_features(const Recipe& recipe, std::size_t k, std::span<const TracedGraph> graphs,
                                      Precision precision);

/// Of each sample: its graph, and its place at the end, counted within the graph. Outputs × samples: each with itself.
struct GraphSamples {
  std::vector<Index> graph;
  std::vector<Index> place;
  Matrix<double> diagonal;
};
[[nodiscard]] GraphSamples graph_samples(const Recipe& recipe, const GraphView& samples,
                                         std::span<const TracedGraph> graphs);

}  // namespace widelimit::cpu
