#pragma once

#include "widelimit/engine/cpu/graph/colours.hpp"
#include "widelimit/engine/cpu/graph/graph_state.hpp"
#include "widelimit/engine/kernels.hpp"

namespace widelimit::cpu {

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

/// Input of one graph: its places before the first step.
struct GraphInput {
  Variances variance;
  std::vector<std::int64_t> tags;  ///< tag of each place, or
  Matrix<double> unit;             ///< features of each place divided by their norm
};
[[nodiscard]] GraphInput graph_input(const GraphView& graphs, const Colours& colours);

/// Computes ρ and t of the places `rows` of one input with the places `cols` of another.
void write_input(const GraphInput& left, Range rows, const GraphInput& right, Range cols, GraphState& state);

[[nodiscard]] GraphTrace trace_graph(const Recipe& recipe, const GraphProgram& program, const GraphInput& input,
                                     const Colours& colours, Precision precision, GraphRunner& runner);

}  // namespace widelimit::cpu
