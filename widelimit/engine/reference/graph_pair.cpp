#include "widelimit/engine/reference/graph_pair.hpp"

#include "widelimit/engine/reference/activation.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace widelimit::reference {

namespace {

using Real = long double;
using Values = std::vector<Real>;

/// Σ and Θ_m of all pairs of nodes, row-major.
struct NodePairs {
  Index rows = 0;
  Index cols = 0;
  Values sigma;
  std::vector<Values> theta;

  [[nodiscard]] std::size_t at(Index u, Index v) const { return usize(u * cols + v); }
};

/// Calls f(array) for Σ and for each Θ_m.
template <typename F>
void for_each_kernel(NodePairs& state, const F& f) {
  f(state.sigma);
  for (Values& theta : state.theta) f(theta);
}

template <typename F>
void for_each_pair(const NodePairs& state, const F& f) {
  for (Index u = 0; u < state.rows; ++u) {
    for (Index v = 0; v < state.cols; ++v) f(u, v, state.at(u, v));
  }
}

/// ⟨h_u, h_v⟩, not divided by the number of features.
Real product(const Graphs& a, Index u, const Graphs& b, Index v) {
  if (a.tagged()) return a.tags[usize(u)] == b.tags[usize(v)] ? 1 : 0;
  Real sum = 0;
  for (Index k = 0; k < a.width; ++k) sum += static_cast<Real>(a.features_of(u)[usize(k)]) * b.features_of(v)[usize(k)];
  return sum;
}

/// Groups of nodes that a step sums over, and a factor for each group.
struct Groups {
  std::vector<std::vector<Index>> nodes;
  Values factor;

  /// Groups that `step` sums for each position after it.
  Groups(const Step& step, const Graphs& graphs, Index g) {
    const Index first = graphs.nodes[usize(g)];
    const Index n = graphs.nodes[usize(g) + 1] - first;
    if (step.op == Op::readout) {
      nodes.emplace_back();
      for (Index u = 0; u < n; ++u) nodes.back().push_back(u);
    } else {
      for (Index u = 0; u < n; ++u) {
        nodes.push_back({u});
        for (const std::int32_t v : graphs.neighbours_of(first + u)) nodes.back().push_back(v);
      }
    }
    for (const auto& group : nodes) factor.push_back(step.mean ? 1 / static_cast<Real>(group.size()) : Real(1));
  }
};

void sum_groups(const Groups& rows, const Groups& cols, NodePairs& state) {
  const NodePairs before = state;
  state.rows = std::ssize(rows.nodes);
  state.cols = std::ssize(cols.nodes);
  const auto sum = [&](const Values& from) {
    Values to;
    for (std::size_t p = 0; p < rows.nodes.size(); ++p) {
      for (std::size_t q = 0; q < cols.nodes.size(); ++q) {
        Real total = 0;
        for (const Index u : rows.nodes[p]) {
          for (const Index v : cols.nodes[q]) total += from[before.at(u, v)];
        }
        to.push_back(rows.factor[p] * cols.factor[q] * total);
      }
    }
    return to;
  };
  state.sigma = sum(before.sigma);
  for (std::size_t m = 0; m < state.theta.size(); ++m) state.theta[m] = sum(before.theta[m]);
}

/// Nodes with equal neighbourhoods have ρ = 1, but sums in a different order deviate from it by some ulps, of which
/// arccos would take the square root; such pairs are set to ρ = ±1.
GaussianPair<Real> gaussian_pair(Real q1, Real q2, Real c) {
  constexpr Real equal = 64 * std::numeric_limits<Real>::epsilon();
  GaussianPair<Real> pair(q1, q2, c);
  const Real size = geometric_mean(q1, q2);
  if (pair.minus < equal * size) return {q1, q2, size, 0, 2 * size};
  if (pair.plus < equal * size) return {q1, q2, -size, 2 * size, 0};
  return pair;
}

void pointwise(const Recipe& recipe, const Step& step, bool self, const Values& q1, const Values& q2,
               NodePairs& state) {
  for_each_pair(state, [&](Index u, Index v, std::size_t k) {
    const Real first = q1[usize(u)];
    const Real second = q2[usize(v)];
    switch (step.op) {
      case Op::affine:
        state.sigma[k] = static_cast<Real>(step.w2) * state.sigma[k] + static_cast<Real>(step.b2);
        for (std::size_t m = 0; m < state.theta.size(); ++m) {
          const bool trained = std::cmp_greater_equal(m, step.channel_begin) && std::cmp_less(m, step.channel_end);
          state.theta[m][k] = static_cast<Real>(step.w2) * state.theta[m][k] + (trained ? state.sigma[k] : 0);
        }
        break;
      case Op::dual: {
        const bool same = self && u == v;
        const auto pair = same ? GaussianPair<Real>(first, first, first) : gaussian_pair(first, second, state.sigma[k]);
        const DualValue<Real> value = dual_value(recipe, step.dual, pair);
        state.sigma[k] = value.sigma;
        for (Values& theta : state.theta) theta[k] *= value.dot;
        break;
      }
      case Op::layer_norm: {
        const Real size = geometric_mean(first, second);
        for_each_kernel(state, [&](Values& values) { values[k] = size > 0 ? values[k] / size : 0; });
        break;
      }
      case Op::dropout:
        if (self && u == v) for_each_kernel(state, [&](Values& values) { values[k] /= static_cast<Real>(step.rate); });
        break;
      default:
        break;
    }
  });
}

void join(NodePairs& state, const NodePairs& other) {
  for (std::size_t k = 0; k < state.sigma.size(); ++k) {
    state.sigma[k] += other.sigma[k];
    for (std::size_t m = 0; m < state.theta.size(); ++m) state.theta[m][k] += other.theta[m][k];
  }
}

void put_outputs(const Step& step, const NodePairs& state, const PutOutput& put) {
  for_each_pair(state, [&](Index u, Index v, std::size_t k) {
    if (step.nngp_slot >= 0) put(step.nngp_slot, u, v, state.sigma[k]);
    for (Index m = 0; m < step.ntk_count; ++m) put(step.ntk_slot + m, u, v, state.theta[usize(m)][k]);
  });
}

NodePairs input_state(const Recipe& recipe, const Graphs& a, Index g, const Graphs& b, Index h) {
  NodePairs state;
  state.rows = a.nodes[usize(g) + 1] - a.nodes[usize(g)];
  state.cols = b.nodes[usize(h) + 1] - b.nodes[usize(h)];
  for (Index u = 0; u < state.rows; ++u) {
    for (Index v = 0; v < state.cols; ++v) {
      state.sigma.push_back(product(a, a.nodes[usize(g)] + u, b, b.nodes[usize(h)] + v));
    }
  }
  state.theta.assign(usize(recipe.channels), Values(state.sigma.size(), 0));
  return state;
}

/// `variances(k, state)` returns the variances of both graphs before step k.
template <typename VariancesAt>
void run(const Recipe& recipe, const Graphs& a, Index g, const Graphs& b, Index h, bool self,
         const VariancesAt& variances, const PutOutput& put) {
  std::vector<NodePairs> stack{input_state(recipe, a, g, b, h)};
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const Step& step = recipe.steps[k];
    const auto [q1, q2] = variances(k, stack.back());
    switch (step.op) {
      case Op::aggregate:
      case Op::readout:
        sum_groups({step, a, g}, {step, b, h}, stack.back());
        break;
      case Op::fork:
        stack.push_back(stack.back());
        break;
      case Op::swap:
        std::swap(stack.back(), stack[stack.size() - 2]);
        break;
      case Op::join: {
        const NodePairs other = std::move(stack.back());
        stack.pop_back();
        join(stack.back(), other);
        break;
      }
      case Op::emit:
        put_outputs(step, stack.back(), put);
        break;
      default:
        pointwise(recipe, step, self, *q1, *q2, stack.back());
        break;
    }
  }
}

}  // namespace

GraphTraces run_graph_self(const Recipe& recipe, const GraphView& graphs, Index g, const PutOutput& put) {
  GraphTraces traces(recipe.steps.size());
  const auto variances = [&](std::size_t k, const NodePairs& state) {
    for (Index u = 0; u < state.rows; ++u) traces[k].push_back(state.sigma[state.at(u, u)]);
    return std::pair{&traces[k], &traces[k]};
  };
  run(recipe, *graphs.graphs, graphs.begin + g, *graphs.graphs, graphs.begin + g, true, variances, put);
  return traces;
}

void run_graph_pair(const Recipe& recipe, const TracedGraph& x1, const TracedGraph& x2, const PutOutput& put) {
  const auto variances = [&](std::size_t k, const NodePairs&) { return std::pair{&x1.traces[k], &x2.traces[k]}; };
  run(recipe, x1.graphs, x1.g, x2.graphs, x2.g, false, variances, put);
}

}  // namespace widelimit::reference
