#include "widelimit/engine/cpu/graph/graph_trace.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/cpu/graph/colours.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

using Real = long double;

Index places_at_end(const GraphProgram& program, const Colours& colours) {
  const Index last = program.steps.back().after;
  return last == whole_graph ? 1 : colours.places(last);
}

/// Multiplicity of each place before a step in each place after it.
SparseRows counts_of(const Step& step, const GraphStep& at, const Colours& colours) {
  if (step.op == Op::aggregate) return colours.neighbourhoods(at.before);
  if (step.op == Op::readout) return colours.sizes(at.before);
  return colours.refinement(std::min(at.before, at.beneath), at.after);
}

/// c_u = 1, or 1/(number of nodes in the sum) for a mean.
Real scale_of(const Step& step, const SparseRows& counts, Index row) {
  if (!step.mean) return 1;
  Real sum = 0;
  for (Index e = counts.start[usize(row)]; e < counts.start[usize(row) + 1]; ++e) sum += counts.weights[usize(e)];
  return 1 / sum;
}

/// Var(u) = c_u² Σ_{u',u''} r_{u'} r_{u''} ρ(u',u'') over the nodes of the sum. All terms are nonnegative if the
/// features are.
Variances summed(const Step& step, const SparseRows& counts, const Variances& before, GraphState& state) {
  std::vector<Real> r;
  for (const Real q : before) r.push_back(std::sqrt(q));
  const MatrixView<double> rho = state.array(0);
  Variances after;
  for (Index row = 0; row < counts.rows(); ++row) {
    Real sum = 0;
    const Index begin = counts.start[usize(row)];
    const Index end = counts.start[usize(row) + 1];
    for (Index e = begin; e < end; ++e) {
      const Index p = counts.columns[usize(e)];
      const Real weight = counts.weights[usize(e)] * r[usize(p)];
      Real inner = 0;
      for (Index f = begin; f < e; ++f) {
        const Index q = counts.columns[usize(f)];
        inner += counts.weights[usize(f)] * r[usize(q)] * rho(p, q);
      }
      sum += weight * (2 * inner + weight);
    }
    const Real scale = scale_of(step, counts, row);
    after.push_back(std::max<Real>(0, sum) * scale * scale);
  }
  check_variances(after);
  return after;
}

/// Converts counts to weights of correlations: c_u r_{u'}/r_u.
SparseRows relative(const Step& step, SparseRows counts, const Variances& before, const Variances& after) {
  for (Index row = 0; row < counts.rows(); ++row) {
    const Real scale = scale_of(step, counts, row);
    const Real r = std::sqrt(after[usize(row)]);
    for (Index e = counts.start[usize(row)]; e < counts.start[usize(row) + 1]; ++e) {
      const Real part = std::sqrt(before[usize(counts.columns[usize(e)])]);
      counts.weights[usize(e)] = ratio(static_cast<Real>(counts.weights[usize(e)]) * scale * part, r);
    }
  }
  return counts;
}

Variances refined(const Variances& coarse, const SparseRows& refinement) {
  Variances fine;
  for (const std::int32_t place : refinement.columns) fine.push_back(coarse[usize(place)]);
  return fine;
}

void write_diagonal(const Step& step, const Variances& variance, GraphState& state, Matrix<double>& diagonal) {
  for (Index p = 0; p < state.rows(); ++p) {
    const auto q = static_cast<double>(variance[usize(p)]);
    if (step.nngp_slot >= 0) diagonal(step.nngp_slot, p) = q;
    for (Index m = 0; m < step.ntk_count; ++m) diagonal(step.ntk_slot + m, p) = state.array(2 + m)(p, p) * q;
  }
}

GraphInput graph_input(const GraphView& graphs, const Colours& colours) {
  const Graphs& all = *graphs.graphs;
  GraphInput input;
  const Index places = colours.places(0);
  if (all.tagged()) {
    input.variance.assign(usize(places), 1);
    for (const Index node : colours.nodes(0)) input.tags.push_back(all.tags[usize(node)]);
    return input;
  }
  input.unit = Matrix<double>(places, all.width);
  for (Index p = 0; p < places; ++p) {
    const auto row = all.features_of(colours.nodes(0)[usize(p)]);
    Real square = 0;
    for (const double value : row) square += static_cast<Real>(value) * value;
    const Real norm = std::sqrt(square);
    for (Index k = 0; k < all.width; ++k) input.unit(p, k) = ratio(row[usize(k)], norm);
    input.variance.push_back(square);
  }
  check_variances(input.variance);
  return input;
}

GraphTrace trace_graph(const Recipe& recipe, const GraphProgram& program, const GraphInput& input,
                       const Colours& colours, Precision precision, GraphRunner& runner) {
  const std::size_t count = recipe.steps.size();
  GraphTrace trace{std::vector<Variances>(count), std::vector<Variances>(count), std::vector<SparseRows>(count),
                   Matrix<double>(recipe.outputs, places_at_end(program, colours)), 0};
  const Range all{0, colours.places(0)};
  write_input(input, all, input, all, runner.begin(recipe, all.size(), all.size()));
  std::vector<Variances> variances{input.variance};
  DualErrors duals;
  for (std::size_t k = 0; k < count; ++k) {
    const Step& step = recipe.steps[k];
    const GraphStep& at = program.steps[k];
    Variances before = variances.back();
    Advance advanced;
    switch (step.op) {
      case Op::fork:
        variances.push_back(before);
        break;
      case Op::swap:
        std::swap(variances.back(), variances[variances.size() - 2]);
        break;
      case Op::aggregate:
      case Op::readout: {
        SparseRows counts = counts_of(step, at, colours);
        advanced.variance = summed(step, counts, before, runner.top());
        trace.places[k] = relative(step, std::move(counts), before, advanced.variance);
        break;
      }
      case Op::join: {
        variances.pop_back();
        Variances beneath = variances.back();
        if (at.before != at.beneath) {
          trace.places[k] = counts_of(step, at, colours);
          Variances& coarse = at.before < at.beneath ? before : beneath;
          coarse = refined(coarse, trace.places[k]);
        }
        advanced = advance_join(beneath, before);
        trace.beneath[k] = std::move(beneath);
        trace.before[k] = before;
        break;
      }
      case Op::emit:
        trace.before[k] = before;
        write_diagonal(step, before, runner.top(), trace.diagonal);
        break;
      default:
        advanced = advance(recipe, step, before, {quadrature_tolerance(precision), has_errors(duals)});
        if (feature_count(step) > 0) trace.before[k] = before;
        break;
    }
    if (step.op == Op::dual) duals.push_back(advanced.error);
    if (!advanced.variance.empty()) variances.back() = std::move(advanced.variance);
    const SparseBlock places{trace.places[k].rows() > 0 ? &trace.places[k] : nullptr, 0, trace.places[k].rows(), 0};
    const GraphSide side{&advanced.features, 0, places};
    runner.run(recipe, k, true, [&](std::size_t) { return GraphSides{side, side}; });
  }
  trace.error = quadrature_error(recipe, duals);
  return trace;
}

}  // namespace

void write_input(const GraphInput& left, Range rows, const GraphInput& right, Range cols, GraphState& state) {
  const MatrixView<double> rho = state.array(0);
  const MatrixView<double> t = state.array(1);
  if (!left.tags.empty()) {
    for (Index p = 0; p < rows.size(); ++p) {
      for (Index q = 0; q < cols.size(); ++q) {
        const bool equal = left.tags[usize(rows.begin + p)] == right.tags[usize(cols.begin + q)];
        rho(p, q) = equal ? 1 : 0;
        t(p, q) = equal ? 0 : 1;
      }
    }
    return;
  }
  const Index width = left.unit.cols();
  gemm<double>(1, Transpose::no, left.unit.view().block(rows.begin, 0, rows.size(), width), Transpose::yes,
               right.unit.view().block(cols.begin, 0, cols.size(), width), 0, rho);
  set_correlations(rho, t);
  constexpr double near_one = 0x1p-10;  // below it, t is computed from differences
  for (Index p = 0; p < rows.size(); ++p) {
    for (Index q = 0; q < cols.size(); ++q) {
      if (!(t(p, q) < near_one)) continue;
      const double sign = rho(p, q) < 0 ? -1.0 : 1.0;
      double sum = 0;
      for (Index k = 0; k < width; ++k) {
        const double difference = left.unit(rows.begin + p, k) - sign * right.unit(cols.begin + q, k);
        sum += difference * difference;
      }
      t(p, q) = sum / 2;
      rho(p, q) = sign * (1 - t(p, q));
    }
  }
}

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
