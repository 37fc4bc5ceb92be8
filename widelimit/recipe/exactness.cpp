#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/limit_state.hpp"
#include "widelimit/recipe/pointwise_chain.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// Tracks the limit state through a network without shapes, in parallel with lower().
class StateTracker {
 public:
  explicit StateTracker(bool one_position) : state_(one_position) {}

  void layers(const Layers& list, const std::string& prefix) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::string place = prefix + std::to_string(k + 1);
      const bool residual = std::holds_alternative<Residual>(list[k].value);
      const std::string layer = "layer " + place + " (" + (residual ? "residual" : to_text(list[k])) + ")";
      std::visit([&](const auto& one) { require(layer, (*this)(one, place)); }, list[k].value);
    }
  }
  LimitFormula formula() {
    apply_deferred();
    return std::move(formula_);
  }

 private:
  using Text = std::string;
  using Reason = std::string_view;

  Reason operator()(const Dense&, const Text&) { return apply_deferred(), state_.weigh(), Reason{}; }
  Reason operator()(const Conv&, const Text&) { return apply_deferred(), state_.weigh(), Reason{}; }
  Reason operator()(const Activation& activation, const Text&) { return state_.activate(activation); }
  Reason operator()(const Pool& pool, const Text&) {
    apply_deferred(), state_.pool(false);
    return pool.pooling == Pooling::max ? max_pool_reason : Reason{};
  }
  Reason operator()(const GlobalPool&, const Text&) { return apply_deferred(), state_.pool(true), Reason{}; }
  Reason operator()(const Flatten&, const Text&) { return state_.flatten(), Reason{}; }
  Reason operator()(const LayerNorm&, const Text&) { return apply_deferred(), state_.normalise(); }
  Reason operator()(const Dropout& dropout, const Text&) {
    return apply_deferred(), state_.drop(dropout.rate), Reason{};
  }
  Reason operator()(const Scale& scale, const Text&) { return static_cast<void>(state_.scale(scale.by)), Reason{}; }
  Reason operator()(const Attention&, const Text&) { return apply_deferred(), state_.attend(); }
  Reason operator()(const Aggregate&, const Text&) { return apply_deferred(), state_.pool(false), Reason{}; }
  Reason operator()(const Residual& residual, const Text& place) {
    const Layers shortcut = residual.shortcut.value_or(Layers{});
    if (!state_.continues(residual.branch) && !state_.continues(shortcut)) apply_deferred();
    state_.fork();
    const LimitState begin = state_;
    layers(residual.branch, place + ".branch.");
    apply_deferred();
    const LimitState branch = std::exchange(state_, begin);
    layers(shortcut, place + ".shortcut.");
    apply_deferred();
    return state_.join(branch);
  }

  /// Keeps the first obstacle, the one that lower() reports.
  void require(const Text& layer, Reason reason) {
    if (reason.empty() || !formula_.obstacle.empty()) return;
    formula_ = {Exactness::monte_carlo, layer + " " + Text(reason)};
  }
  void apply_deferred() {
    const LimitState::Pending pending = state_.take_deferred();
    if (pending.chain.empty()) return;
    const auto function = pending.chain.reduced().function;
    const auto* activation = std::get_if<Activation>(&function);
    const bool closed =
        std::holds_alternative<TwoSlopes>(function) || (activation != nullptr && activation->phi <= Phi::identity);
    if (!closed) formula_.exactness = std::max(formula_.exactness, Exactness::quadrature);
  }

  LimitState state_;
  LimitFormula formula_;
};

}  // namespace

LimitFormula limit_formula(const Network& network) {
  StateTracker tracker(!is_spatial(network));
  tracker.layers(network.layers, "");
  return tracker.formula();
}

Exactness exactness(const Network& network) { return limit_formula(network).exactness; }

double operations_per_pair(const Recipe& recipe) {
  const auto pairs = [](const Grid& grid, bool all) {
    const auto positions = static_cast<double>(grid.positions());
    return all ? positions * positions : positions;
  };
  const double state = 1.0 + static_cast<double>(recipe.channels);
  const Grid input{static_cast<std::int32_t>(recipe.input.height), static_cast<std::int32_t>(recipe.input.width)};
  double operations = 2.0 * static_cast<double>(recipe.input.channels) * pairs(input, recipe.all_pairs);
  for (const Step& step : recipe.steps) {
    const double before = pairs(step.before, step.all_pairs);
    const double after = pairs(step.after, step.all_pairs_after);
    switch (step.op) {
      case Op::affine:
        operations += 2.0 * state * after;
        break;
      case Op::window:
        operations += state * after * (step.size.height + step.size.width);
        break;
      case Op::dual:
        operations += (30.0 + state) * after;
        break;
      case Op::pool:
      case Op::flatten:
      case Op::readout:
        operations += state * before;
        break;
      case Op::aggregate:  // for nodes with three neighbours, on both sides
        operations += 2.0 * 2.0 * 4.0 * state * before;
        break;
      case Op::attend:
        operations += 4.0 * state * before * static_cast<double>(step.before.positions());
        break;
      case Op::layer_norm:
      case Op::dropout:
      case Op::join:
      case Op::emit:
        operations += state * after;
        break;
      case Op::fork:
      case Op::swap:
        break;
    }
  }
  return operations;
}

}  // namespace widelimit
