#include "widelimit/recipe/recipe.hpp"

#include <algorithm>

namespace widelimit {

namespace {

Exactness of_layers(const Layers& layers);

struct Judge {
  Exactness operator()(const Activation& activation) const {
    return activation.phi > Phi::identity ? Exactness::quadrature : Exactness::closed_form;
  }
  Exactness operator()(const Pool& pool) const {
    return pool.pooling == Pooling::max ? Exactness::monte_carlo : Exactness::closed_form;
  }
  Exactness operator()(const Residual& residual) const {
    const Exactness branch = of_layers(residual.branch);
    return residual.shortcut ? std::max(branch, of_layers(*residual.shortcut)) : branch;
  }
  template <typename Layer>
  Exactness operator()(const Layer&) const {
    return Exactness::closed_form;
  }
};

Exactness of_layers(const Layers& layers) {
  Exactness worst = Exactness::closed_form;
  for (const Layer& layer : layers) worst = std::max(worst, std::visit(Judge{}, layer.value));
  return worst;
}

}  // namespace

Exactness exactness(const Network& network) { return of_layers(network.layers); }

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
