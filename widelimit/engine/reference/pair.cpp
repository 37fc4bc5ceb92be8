#include "widelimit/engine/reference/pair.hpp"

#include "widelimit/engine/reference/steps.hpp"

#include <utility>

namespace widelimit::reference {

namespace {

std::vector<Real> variances(const State& self) {
  std::vector<Real> result;
  for (Index p = 0; p < self.positions; ++p) result.push_back(self.sigma[static_cast<std::size_t>(self.at(p, p))]);
  return result;
}

/// What a step needs to know of the sample whose state with itself this is.
Trace trace_of(const Step& step, const State& self) {
  Trace trace;
  if (step.op == Op::dual || step.op == Op::layer_norm) trace.variance = variances(self);
  if (step.op == Op::attend) trace.attention = attention_weights(self);
  return trace;
}

/// `traces(k, state)` yields the traces of both samples before step k.
template <typename TracesAt>
void run(const Recipe& recipe, State state, bool self, const TracesAt& traces, const Emit& emit) {
  std::vector<State> stack{std::move(state)};
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const Step& step = recipe.steps[k];
    const auto [x1, x2] = traces(k, stack.back());
    switch (step.op) {
      case Op::affine:
        affine(step, stack.back());
        break;
      case Op::window:
        window(step, stack.back());
        break;
      case Op::dual:
        dual(recipe, step, *x1, *x2, stack.back());
        break;
      case Op::pool:
        pool(step, stack.back());
        break;
      case Op::flatten:
        flatten(stack.back());
        break;
      case Op::layer_norm:
        layer_norm(*x1, *x2, stack.back());
        break;
      case Op::dropout:
        if (self) dropout_self(step, stack.back());
        break;
      case Op::attend:
        attend(*x1, *x2, stack.back());
        break;
      case Op::fork:
        stack.push_back(stack.back());
        break;
      case Op::swap:
        std::swap(stack.back(), stack[stack.size() - 2]);
        break;
      case Op::join: {
        const State other = std::move(stack.back());
        stack.pop_back();
        join(stack.back(), other);
        break;
      }
      case Op::emit:
        emit(step, stack.back());
        break;
    }
  }
}

}  // namespace

State input_state(const Recipe& recipe, const Real* x1, const Real* x2) {
  const Index channels = recipe.input.channels;
  State state{.positions = recipe.input.positions(), .all_pairs = recipe.all_pairs};
  for (Index p = 0; p < state.positions; ++p) {
    for (Index q = recipe.all_pairs ? 0 : p; q < (recipe.all_pairs ? state.positions : p + 1); ++q) {
      Real sum = 0;
      for (Index c = 0; c < channels; ++c) sum += x1[p * channels + c] * x2[q * channels + c];
      state.sigma.push_back(sum / static_cast<Real>(channels));
    }
  }
  state.theta.assign(static_cast<std::size_t>(recipe.channels), std::vector<Real>(state.sigma.size(), 0));
  return state;
}

Traces run_self(const Recipe& recipe, const Real* x, const Emit& emit) {
  Traces traces(recipe.steps.size());
  const auto traces_at = [&](std::size_t k, const State& state) {
    traces[k] = trace_of(recipe.steps[k], state);
    return std::pair<const Trace*, const Trace*>{&traces[k], &traces[k]};
  };
  run(recipe, input_state(recipe, x, x), true, traces_at, emit);
  return traces;
}

void run_pair(const Recipe& recipe, const Real* x1, const Traces& traces1, const Real* x2, const Traces& traces2,
              const Emit& emit) {
  const auto traces_at = [&](std::size_t k, const State&) {
    return std::pair<const Trace*, const Trace*>{&traces1[k], &traces2[k]};
  };
  run(recipe, input_state(recipe, x1, x2), false, traces_at, emit);
}

}  // namespace widelimit::reference
