#pragma once

#include "widelimit/engine/cpu/graph/colours.hpp"
#include "widelimit/engine/cpu/graph/graph_state.hpp"
#include "widelimit/engine/kernels.hpp"

namespace widelimit::cpu {

/// What each step needs to know of one graph, from running it with itself.
struct GraphTrace {
  /// One entry for each step, where the step needs it: variances of all places before it, of a join also those of the
  /// state beneath; relative weights of the places before it in those after it.
  std::vector<Variances> before;
  std::vector<Variances> beneath;
  std::vector<SparseRows> places;
  Matrix<double> diagonal;  ///< outputs × places at the end, of each place with itself
  double error = 0.0;       ///< of quadrature
};

/// Input of one graph: its places before the first step.
struct GraphInput {
  Variances variance;
  std::vector<std::int64_t> tags;  ///< of each place, or
  Matrix<double> unit;             ///< features of each place divided by their norm
};
[[nodiscard]] GraphInput graph_input(const GraphView& graphs, const Colours& colours);

/// ρ and t of the places of two inputs, from place `first` of each on.
void write_input(const GraphInput& left, Range rows, const GraphInput& right, Range cols, GraphState& state);

[[nodiscard]] GraphTrace trace_graph(const Recipe& recipe, const GraphProgram& program, const GraphInput& input,
                                     const Colours& colours, Precision precision, GraphRunner& runner);

}  // namespace widelimit::cpu
