#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/limit_state.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// Follows the states of a network without its shapes, as lower() does with them.
class Judge {
 public:
  explicit Judge(bool one_position) : state_(one_position) {}

  void layers(const Layers& list) {
    for (const Layer& layer : list) std::visit([this](const auto& one) { (*this)(one); }, layer.value);
  }
  Exactness verdict() {
    settle();
    return worst_;
  }

  void operator()(const Dense&) { settle(), state_.weigh(); }
  void operator()(const Conv&) { settle(), state_.weigh(); }
  void operator()(const Activation& activation) { judge(state_.activate(activation)); }
  void operator()(const Pool& pool) {
    if (pool.pooling == Pooling::max) worst_ = Exactness::monte_carlo;
    settle(), state_.pool(false);
  }
  void operator()(const GlobalPool&) { settle(), state_.pool(true); }
  void operator()(const Flatten&) { state_.flatten(); }
  void operator()(const LayerNorm&) { settle(), judge(state_.normalise()); }
  void operator()(const Dropout& dropout) { settle(), state_.drop(dropout.rate); }
  void operator()(const Scale& scale) { static_cast<void>(state_.scale(scale.by)); }
  void operator()(const Attention&) { settle(), judge(state_.attend()); }
  void operator()(const Residual& residual) {
    const Layers shortcut = residual.shortcut.value_or(Layers{});
    if (!state_.continues(residual.branch) && !state_.continues(shortcut)) settle();
    state_.fork();
    const LimitState begin = state_;
    layers(residual.branch);
    settle();
    const LimitState branch = std::exchange(state_, begin);
    layers(shortcut);
    settle();
    judge(state_.join(branch));
  }

 private:
  void judge(std::string_view reason) {
    if (!reason.empty()) worst_ = Exactness::monte_carlo;
  }
  void settle() {
    const LimitState::Pending pending = state_.settle();
    if (pending.chain.empty()) return;
    const auto function = pending.chain.reduced().function;
    const auto* activation = std::get_if<Activation>(&function);
    const bool closed =
        std::holds_alternative<TwoSlopes>(function) || (activation != nullptr && activation->phi <= Phi::identity);
    if (!closed) worst_ = std::max(worst_, Exactness::quadrature);
  }

  LimitState state_;
  Exactness worst_ = Exactness::closed_form;
};

}  // namespace

Exactness exactness(const Network& network) {
  Judge judge(!is_spatial(network));
  judge.layers(network.layers);
  return judge.verdict();
}

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
        operations += state * before;
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
