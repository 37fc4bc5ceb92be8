#include "widelimit/engine/reference/pair.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/reference/activation.hpp"
#include "widelimit/engine/reference/steps.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace widelimit::reference {

namespace {

std::vector<Real> variances(const State& self) {
  std::vector<Real> result;
  for (Index p = 0; p < self.positions; ++p) result.push_back(self.sigma[static_cast<std::size_t>(self.at(p, p))]);
  return result;
}

/// qq' − Σ² = q·‖y‖²/n for the part y of x' orthogonal to x. fma avoids the rounding of the products, and a second
/// projection removes the error that the rounded coefficient of the first one leaves.
Real gram_determinant(std::span<const Real> x1, std::span<const Real> x2, Real q1, Real c) {
  const auto n = static_cast<Real>(x1.size());
  const Real share = c / q1;
  std::vector<Real> y(x2.begin(), x2.end());
  Real along = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    y[k] = std::fma(-share, x1[k], y[k]);
    along += x1[k] * y[k];
  }
  Real square = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const Real rest = std::fma(-along / (n * q1), x1[k], y[k]);
    square += rest * rest;
  }
  return q1 * square / n;
}

/// Appends the state of one pair of positions.
void push_inputs(std::span<const Real> x1, std::span<const Real> x2, State& state) {
  const auto n = static_cast<Real>(x1.size());
  Real q1 = 0, q2 = 0, c = 0, excess = 0;
  for (std::size_t k = 0; k < x1.size(); ++k) {
    q1 += x1[k] * x1[k] / n;
    q2 += x2[k] * x2[k] / n;
    c += x1[k] * x2[k] / n;
    excess += (x1[k] - x2[k]) * (x1[k] + x2[k]) / n;
  }
  GaussianPair<Real> pair(q1, q2, c);
  constexpr Real near = 0x1p-10L;  // for larger distances, the differences have at least 16 digits
  if (std::min(pair.minus, pair.plus) < near * geometric_mean(q1, q2)) {
    Real& small = c > 0 ? pair.minus : pair.plus;
    small = gram_determinant(x1, x2, q1, c) / std::max(pair.minus, pair.plus);
  }
  state.sigma.push_back(c);
  state.minus.push_back(pair.minus);
  state.plus.push_back(pair.plus);
  state.excess.push_back(excess);
}

/// Trace of a sample for a step, from its states with itself.
Trace trace_of(const Recipe& recipe, const Step& step, const std::vector<State>& stack) {
  Trace trace{.variance = variances(stack.back())};
  if (step.op == Op::dual) {
    for (const Real q : trace.variance) trace.image.push_back(dual_value(recipe, step.dual, {q, q, q}).sigma);
  }
  if (step.op == Op::join) trace.beneath = variances(stack[stack.size() - 2]);
  if (step.op == Op::attend) trace.attention = attention_weights(stack.back());
  return trace;
}

/// `traces(k, stack)` returns the traces of both samples before step k.
template <typename TracesAt>
void run(const Recipe& recipe, State state, bool self, const TracesAt& traces, const Emit& emit) {
  std::vector<State> stack{std::move(state)};
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const Step& step = recipe.steps[k];
    const auto [x1, x2] = traces(k, stack);
    switch (step.op) {
      case Op::affine:
        affine(step, *x1, *x2, stack.back());
        break;
      case Op::window:
        window(step, *x1, *x2, stack.back());
        break;
      case Op::dual:
        dual(recipe, step, *x1, *x2, stack.back());
        break;
      case Op::pool:
        pool(step, *x1, *x2, stack.back());
        break;
      case Op::flatten:
        flatten(*x1, *x2, stack.back());
        break;
      case Op::layer_norm:
        layer_norm(*x1, *x2, stack.back());
        break;
      case Op::dropout:
        dropout(step, self, *x1, *x2, stack.back());
        break;
      case Op::attend:
        attend(*x1, *x2, stack.back());
        break;
      case Op::aggregate:
      case Op::readout:
        fail(Code::usage, "the recipe needs graphs, but the samples are not graphs");
      case Op::fork:
        stack.push_back(stack.back());
        break;
      case Op::swap:
        std::swap(stack.back(), stack[stack.size() - 2]);
        break;
      case Op::join: {
        const State other = std::move(stack.back());
        stack.pop_back();
        join(*x1, *x2, stack.back(), other);
        break;
      }
      case Op::emit:
        emit(step, stack.back());
        break;
    }
    if ((step.op == Op::pool || step.op == Op::attend) && k + 1 < recipe.steps.size()) {
      const auto [y1, y2] = traces(k + 1, stack);
      complements_of_covariances(*y1, *y2, stack.back());
    }
  }
}

}  // namespace

State input_state(const Recipe& recipe, const Real* x1, const Real* x2) {
  const Index channels = recipe.input.channels;
  State state{.positions = recipe.input.positions(), .all_pairs = recipe.all_pairs};
  for (Index p = 0; p < state.positions; ++p) {
    for (Index q = recipe.all_pairs ? 0 : p; q < (recipe.all_pairs ? state.positions : p + 1); ++q) {
      push_inputs({x1 + p * channels, static_cast<std::size_t>(channels)},
                  {x2 + q * channels, static_cast<std::size_t>(channels)}, state);
    }
  }
  state.theta.assign(static_cast<std::size_t>(recipe.channels), std::vector<Real>(state.sigma.size(), 0));
  return state;
}

Traces run_self(const Recipe& recipe, const Real* x, const Emit& emit) {
  Traces traces(recipe.steps.size());
  const auto traces_at = [&](std::size_t k, const std::vector<State>& stack) {
    traces[k] = trace_of(recipe, recipe.steps[k], stack);
    return std::pair<const Trace*, const Trace*>{&traces[k], &traces[k]};
  };
  run(recipe, input_state(recipe, x, x), true, traces_at, emit);
  return traces;
}

void run_pair(const Recipe& recipe, const Real* x1, const Traces& traces1, const Real* x2, const Traces& traces2,
              const Emit& emit) {
  const auto traces_at = [&](std::size_t k, const std::vector<State>&) {
    return std::pair<const Trace*, const Trace*>{&traces1[k], &traces2[k]};
  };
  run(recipe, input_state(recipe, x1, x2), false, traces_at, emit);
}

}  // namespace widelimit::reference
