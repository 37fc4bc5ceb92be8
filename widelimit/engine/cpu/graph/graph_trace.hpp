#pragma once

#include "widelimit/engine/cpu/graph/graph_program.hpp"
#include "widelimit/engine/cpu/graph/graph_state.hpp"
#include "widelimit/engine/kernels.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// The per-sample part of networks on graphs, shared by all engines.
namespace widelimit::cpu {

/// Input of one graph: its places before the first step.
struct GraphInput {
  Variances variance;
  std::vector<std::int64_t> tags;  ///< tag of each place, or
  Matrix<double> unit;             ///< features of each place divided by their norm
};

/// Computes ρ and t of the places `rows` of one input with the places `cols` of another.
void write_input(const GraphInput& left, Range rows, const GraphInput& right, Range cols, GraphState& state);

/// Data of one graph for each step, obtained by running the graph with itself.
struct GraphTrace {
  /// One entry per step that needs it: variances of all places before it, for a join also of the state beneath;
  /// relative weights of the places before it in the places after it.
  std::vector<Variances> before;
  std::vector<Variances> beneath;
  std::vector<SparseRows> places;
  Matrix<double> diagonal;  ///< outputs × final places, each place with itself
  double error = 0.0;       ///< quadrature error
};

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
