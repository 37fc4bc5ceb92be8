#pragma once

#include "widelimit/engine/cpu/graph/graph_program.hpp"
#include "widelimit/engine/cpu/graph/graph_trace.hpp"

#include <functional>
#include <span>
#include <vector>

/// The per-sample part of networks on graphs, shared by all engines.
namespace widelimit::cpu {

/// Per-sample data of one graph.
struct TracedGraph {
  std::vector<Index> places;   ///< number of places by round
  std::vector<Index> colours;  ///< colours of its nodes after the last round, if nodes are samples
  GraphInput input;
  GraphTrace trace;
};
/// Traces the graphs that are the samples, or that contain them as nodes.
[[nodiscard]] std::vector<TracedGraph> trace_graphs(const Recipe& recipe, const GraphProgram& program,
                                                    const GraphView& samples, Precision precision, int threads,
                                                    const std::function<void(Index done)>& after);

/// Returns the features of step k at the places of several graphs, concatenated.
[[nodiscard]] Features graph_features(const Recipe& recipe, std::size_t k, std::span<const TracedGraph> graphs,
                                      Precision precision);

/// For each sample its graph and its final place within the graph; and outputs × samples, each with itself.
struct GraphSamples {
  std::vector<Index> graph;
  std::vector<Index> place;
  Matrix<double> diagonal;
};
[[nodiscard]] GraphSamples graph_samples(const Recipe& recipe, const GraphView& samples,
                                         std::span<const TracedGraph> graphs);

}  // namespace widelimit::cpu
