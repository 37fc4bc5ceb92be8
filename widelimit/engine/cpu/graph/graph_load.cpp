#include "widelimit/engine/cpu/graph/graph_load.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit::cpu {

std::vector<TracedGraph> trace_graphs(const Recipe& recipe, const GraphProgram& program, const GraphView& samples,
                                      Precision precision, int threads, const std::function<void(Index)>& after) {
  const GraphView view = samples.whole();
  std::vector<TracedGraph> graphs(usize(view.rows));
  const auto trace = [&](Index g) {
    thread_local GraphRunner runner;
    const Colours colours(view, g, program.rounds, program.merges);
    TracedGraph& graph = graphs[usize(g)];
    for (Index round = 0; round <= program.rounds; ++round) graph.places.push_back(colours.places(round));
    if (samples.apart) graph.colours = colours.colours(program.steps.back().after);
    graph.input = graph_input(view, colours);
    graph.trace = trace_graph(recipe, program, graph.input, colours, precision, runner);
  };
  parallel_for(view.rows, threads, trace, after);
  return graphs;
}

Features graph_features(const Recipe& recipe, std::size_t k, std::span<const TracedGraph> graphs, Precision precision) {
  const Step& step = recipe.steps[k];
  Variances before;
  Variances beneath;
  for (const TracedGraph& graph : graphs) {
    before.insert(before.end(), graph.trace.before[k].begin(), graph.trace.before[k].end());
    beneath.insert(beneath.end(), graph.trace.beneath[k].begin(), graph.trace.beneath[k].end());
  }
  if (step.op == Op::join) return advance_join(beneath, before).features;
  if (step.op == Op::emit) {
    Features deviations = make_features(1, std::ssize(before));
    for (Index i = 0; i < std::ssize(before); ++i) {
      deviations.f64(0, i) = static_cast<double>(std::sqrt(before[usize(i)]));
    }
    return deviations;
  }
  if (before.empty()) return {};
  return advance(recipe, step, before, {quadrature_tolerance(precision), false}).features;
}

GraphSamples graph_samples(const Recipe& recipe, const GraphView& samples, std::span<const TracedGraph> graphs) {
  const GraphView view = samples.whole();
  GraphSamples found;
  for (Index g = 0; g < view.rows; ++g) {
    const Index first = view.first_node(g);
    const Index begin = samples.apart ? std::max(first, samples.begin) : 0;
    const Index end = samples.apart ? std::min(first + view.nodes(g), samples.begin + samples.rows) : 1;
    for (Index k = begin; k < end; ++k) {
      found.place.push_back(samples.apart ? graphs[usize(g)].colours[usize(k - first)] : 0);
      found.graph.push_back(g);
    }
  }
  found.diagonal = Matrix<double>(recipe.outputs, samples.rows);
  for (Index i = 0; i < samples.rows; ++i) {
    const Matrix<double>& own = graphs[usize(found.graph[usize(i)])].trace.diagonal;
    for (Index slot = 0; slot < recipe.outputs; ++slot) {
      const double value = own(slot, found.place[usize(i)]);
      if (!std::isfinite(value)) report_overflow(slot, i, i, Precision::f64);
      found.diagonal(slot, i) = value;
    }
  }
  return found;
}

}  // namespace widelimit::cpu
