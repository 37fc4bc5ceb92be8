#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/limit_state.hpp"
#include "widelimit/recipe/pointwise_chain.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// Traverses the tree once and appends steps in order of evaluation.
class Lowering {
 public:
  Lowering(Recipe& recipe, RecipeOutputs requested, bool one_position)
      : recipe_(recipe), requested_(requested), state_(one_position) {}

  void layers(const Layers& list, const std::string& prefix) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      place_ = prefix + std::to_string(k + 1);
      layer_ = &list[k];
      std::visit([this](const auto& layer) { (*this)(layer); }, list[k].value);
    }
  }

  void operator()(const Dense& dense) {
    apply_deferred();
    state_.weigh();
    affine(dense.w_std, dense.b_std, !dense.frozen);
  }

  void operator()(const Conv& conv) {
    apply_deferred();
    state_.weigh();
    Step step = windowed(Op::window, conv.kernel, conv.strides, conv.padding);
    step.scale = 1.0 / static_cast<double>(conv.kernel.rows * conv.kernel.cols);
    push(step);
    affine(conv.w_std, conv.b_std, !conv.frozen);
  }

  void operator()(const Activation& activation) { require(state_.activate(activation)); }

  void operator()(const Pool& pool) { this->pool(pool, false); }

  void operator()(const GlobalPool& pool) {
    if (grid_.nodes) {
      apply_deferred();
      state_.pool(true);
      Step step{.op = Op::readout, .mean = pool.pooling == Pooling::average};
      step.after = {1, 1};
      push(step);
      return;
    }
    const Extent all{grid_.height, grid_.width};
    this->pool(Pool{pool.pooling, all, {1, 1}, Padding::valid}, true);
  }

  void operator()(const Flatten&) { state_.flatten(); }

  void operator()(const LayerNorm&) {
    apply_deferred();
    require(state_.normalise());
    push({.op = Op::layer_norm});
  }

  void operator()(const Dropout& dropout) {
    apply_deferred();
    state_.drop(dropout.rate);
    push({.op = Op::dropout, .rate = dropout.rate});
  }

  /// A layer without weights: no channel trains it.
  void operator()(const Scale& scale) {
    if (!state_.scale(scale.by)) push({.op = Op::affine, .w2 = scale.by * scale.by});
  }

  /// Every unit sums over the same neighbours, so Gaussian values remain Gaussian.
  void operator()(const Aggregate& aggregate) {
    apply_deferred();
    state_.pool(false);
    push({.op = Op::aggregate, .mean = aggregate.scale == NodeScale::degree});
  }

  /// ζΣζ'ᵀ, followed by the value and the output weights, each with standard deviation 1: Θ ← 2Σ_new + ζΘζ'ᵀ.
  void operator()(const Attention& attention) {
    apply_deferred();
    require(state_.attend());
    push({.op = Op::attend});
    affine(1.0, 0.0, !attention.frozen);
    affine(1.0, 0.0, !attention.frozen);
  }

  void operator()(const Residual& residual) {
    const std::string place = place_;
    const Layer* layer = layer_;
    const Layers shortcut = residual.shortcut.value_or(Layers{});
    if (!state_.continues(residual.branch) && !state_.continues(shortcut)) apply_deferred();
    state_.fork();
    const LimitState begin = state_;
    const Grid start = grid_;
    push({.op = Op::fork});
    layers(residual.branch, place + ".branch.");
    apply_deferred();
    const Grid end = std::exchange(grid_, start);
    const LimitState branch = std::exchange(state_, begin);
    push({.op = Op::swap});
    layers(shortcut, place + ".shortcut.");
    apply_deferred();
    grid_ = end;
    place_ = place;
    layer_ = layer;
    require(state_.join(branch));
    push({.op = Op::join});
  }

  /// Appends the steps that the state has deferred.
  void apply_deferred() {
    const LimitState::Pending pending = state_.take_deferred();
    if (!pending.chain.empty()) {
      const PointwiseChain::Reduced reduced = pending.chain.reduced();
      double factor = reduced.factor;
      if (const auto* slopes = std::get_if<TwoSlopes>(&reduced.function)) {
        factor *= two_slopes(*slopes);
      } else if (const auto* activation = std::get_if<Activation>(&reduced.function)) {
        push(dual_of(*activation));
      } else {
        Step step{.op = Op::dual};
        step.dual.phi = Phi::custom;
        step.dual.function = add_function(compose(std::get<std::vector<Activation>>(reduced.function)));
        push(step);
      }
      if (factor != 1) push({.op = Op::affine, .w2 = factor * factor});
    }
    if (pending.flatten) {
      Step step{.op = Op::flatten};
      step.after = {1, 1};
      push(step);
    }
  }

  void start(Grid grid) { grid_ = grid; }

 private:
  void require(std::string_view reason) const {
    if (reason.empty()) return;
    fail(Code::usage,
         "layer {} ({}) {}: its kernel has no closed form; sample finite networks instead (the Monte Carlo method)",
         place_, std::holds_alternative<Residual>(layer_->value) ? "residual" : to_text(*layer_), reason);
  }

  void pool(const Pool& pool, bool over_all_positions) {
    if (pool.pooling == Pooling::max) require(max_pool_reason);
    apply_deferred();
    state_.pool(over_all_positions);
    Step step = windowed(Op::pool, pool.window, pool.strides, pool.padding);
    const auto size = static_cast<double>(pool.window.rows * pool.window.cols);
    step.scale = pool.pooling == Pooling::average ? 1.0 / size : 1.0;
    push(step);
  }

  std::int32_t add_function(std::shared_ptr<const Pointwise> function) {
    recipe_.functions.push_back(std::move(function));
    return static_cast<std::int32_t>(recipe_.functions.size()) - 1;
  }

  Step dual_of(const Activation& activation) {
    Step step{.op = Op::dual};
    step.dual.phi = activation.phi;
    step.dual.degree = static_cast<std::int32_t>(activation.degree);
    step.dual.parameter = activation.phi == Phi::rbf ? activation.gamma : activation.slope;
    if (activation.phi == Phi::polynomial) {
      step.dual.first = static_cast<std::int32_t>(recipe_.constants.size());
      step.dual.count = static_cast<std::int32_t>(activation.coef.size());
      recipe_.constants.insert(recipe_.constants.end(), activation.coef.begin(), activation.coef.end());
    }
    if (activation.phi > Phi::identity) step.dual.function = add_function(make_pointwise(activation));
    return step;
  }

  /// Appends the dual of a two-slope function as that of a rectifier and returns the remaining factor. n·min(x, 0)
  /// equals −n·relu(−x), and a centred Gaussian is symmetric.
  double two_slopes(const TwoSlopes& slopes) {
    if (slopes.is_scale()) return slopes.positive;
    const bool turned = slopes.positive == 0;
    const double steep = turned ? slopes.negative : slopes.positive;
    const double slope = turned ? 0 : slopes.negative / slopes.positive;
    Activation rectifier{.phi = slope == 0 ? Phi::relu : (slope == -1 ? Phi::abs : Phi::leaky_relu)};
    if (rectifier.phi == Phi::leaky_relu) rectifier.slope = slope;
    push(dual_of(rectifier));
    return steep;
  }

  void push(Step step) {
    step.before = grid_;
    const bool moves = step.op == Op::window || step.op == Op::pool || step.op == Op::flatten || step.op == Op::readout;
    if (!moves) step.after = grid_;
    grid_ = step.after;
    recipe_.steps.push_back(step);
  }

  void affine(double w_std, double b_std, bool trained) {
    const auto layer = static_cast<std::int32_t>(recipe_.weight_layers.size());
    Step step{.op = Op::affine, .w2 = w_std * w_std, .b2 = b_std * b_std};
    switch (requested_) {
      case RecipeOutputs::nngp:
        break;
      case RecipeOutputs::ntk:
      case RecipeOutputs::both:
        step.channel_end = 1;
        break;
      case RecipeOutputs::per_layer:
        step.channel_begin = layer, step.channel_end = layer + 1;
        break;
      case RecipeOutputs::sweep:
        step.channel_end = layer + 1;
        break;
    }
    if (!trained) step.channel_end = step.channel_begin;
    push(step);
    recipe_.weight_layers.push_back(place_ + " " + Network{{*layer_}}.to_text());
    if (requested_ == RecipeOutputs::sweep) {
      push({.op = Op::emit, .ntk_slot = layer * (layer + 1) / 2, .ntk_count = layer + 1});
    }
  }

  [[nodiscard]] Step windowed(Op op, Extent size, Extent strides, Padding padding) const {
    const Windowing rows = windowing(grid_.height, size.rows, strides.rows, padding);
    const Windowing cols = windowing(grid_.width, size.cols, strides.cols, padding);
    Step step{.op = op};
    const auto narrow = [](Index value) { return static_cast<std::int32_t>(value); };
    step.after = {narrow(rows.count), narrow(cols.count)};
    step.size = {narrow(size.rows), narrow(size.cols)};
    step.strides = {narrow(strides.rows), narrow(strides.cols)};
    step.offset = {narrow(rows.before), narrow(cols.before)};
    step.circular = padding == Padding::circular;
    return step;
  }

  Recipe& recipe_;
  RecipeOutputs requested_;
  Grid grid_;
  std::string place_;
  const Layer* layer_ = nullptr;
  LimitState state_;
};

/// Backward pass: determines which states must hold all pairs of positions. Pooling and attention read all pairs; a
/// window reads as many as its output needs; flatten reads equal positions only, unless an earlier step already holds
/// more.
void mark_pairs(Recipe& recipe) {
  std::vector<char> needs_all_pairs{0};  // one entry per state on the stack, as seen from the end
  for (auto step = recipe.steps.rbegin(); step != recipe.steps.rend(); ++step) {
    step->all_pairs_after = needs_all_pairs.back() != 0;
    switch (step->op) {
      case Op::pool:
      case Op::attend:
      case Op::aggregate:
      case Op::readout:
        needs_all_pairs.back() = true;
        break;
      case Op::flatten:
        needs_all_pairs.back() = false;
        break;
      case Op::join:
        needs_all_pairs.push_back(needs_all_pairs.back());
        break;
      case Op::swap:
        std::swap(needs_all_pairs.back(), needs_all_pairs[needs_all_pairs.size() - 2]);
        break;
      case Op::fork: {
        const char other = needs_all_pairs.back();
        needs_all_pairs.pop_back();
        needs_all_pairs.back() |= other;
        break;
      }
      default:
        break;
    }
    step->all_pairs = needs_all_pairs.back() != 0;
  }
  recipe.all_pairs = needs_all_pairs.back() != 0;
}

/// Forward pass: propagates the extent of every state. After a fork, both copies hold the larger extent of the two;
/// windows preserve it.
void carry_pairs(Recipe& recipe) {
  std::vector<char> held{static_cast<char>(recipe.all_pairs)};
  for (Step& step : recipe.steps) {
    step.all_pairs = held.back() != 0;
    switch (step.op) {
      case Op::flatten:
        held.back() = false;
        break;
      case Op::fork:
        held.push_back(held.back());
        break;
      case Op::swap:
        std::swap(held.back(), held[held.size() - 2]);
        break;
      case Op::join: {
        const char other = held.back();
        held.pop_back();
        held.back() &= other;
        break;
      }
      case Op::pool:
      case Op::readout:
        held.back() = step.all_pairs_after;
        break;
      default:
        break;
    }
    step.all_pairs_after = held.back() != 0;
  }
}

/// Requires dense (φ dense)*, the networks of which every prefix is a network.
void check_sweep(const Network& network) {
  bool alternating = network.layers.size() % 2 == 1;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const auto& value = network.layers[k].value;
    alternating &= k % 2 == 0 ? std::holds_alternative<Dense>(value) : std::holds_alternative<Activation>(value);
  }
  if (!alternating) {
    fail(Code::input, "a sweep needs dense layers with activations between them, such as fc:5; this network is '{}'",
         network.to_text());
  }
}

void emit_at_end(Recipe& recipe, RecipeOutputs requested) {
  Step step{.op = Op::emit};
  if (requested == RecipeOutputs::nngp || requested == RecipeOutputs::both) step.nngp_slot = 0;
  step.ntk_slot = requested == RecipeOutputs::both ? 1 : 0;
  step.ntk_count = static_cast<std::int32_t>(recipe.channels);
  if (!recipe.steps.empty()) step.before = step.after = recipe.steps.back().after;
  recipe.steps.push_back(step);
}

}  // namespace

Recipe lower(const Network& network, const Shape& input, RecipeOutputs requested) {
  static_cast<void>(infer_shapes(network, input));  // throws if the network does not match the input
  if (requested == RecipeOutputs::sweep) check_sweep(network);

  Recipe recipe;
  recipe.input = effective_input(network, input);
  Lowering lowering(recipe, requested, !is_spatial(network));
  lowering.start({static_cast<std::int32_t>(recipe.input.height), static_cast<std::int32_t>(recipe.input.width),
                  recipe.input.nodes});
  lowering.layers(network.layers, "");
  lowering.apply_deferred();

  const auto weight_layers = static_cast<Index>(recipe.weight_layers.size());
  switch (requested) {
    case RecipeOutputs::nngp:
      recipe.outputs = 1;
      break;
    case RecipeOutputs::ntk:
      recipe.channels = 1, recipe.outputs = 1;
      break;
    case RecipeOutputs::both:
      recipe.channels = 1, recipe.outputs = 2;
      break;
    case RecipeOutputs::per_layer:
      recipe.channels = weight_layers, recipe.outputs = weight_layers;
      break;
    case RecipeOutputs::sweep:
      recipe.channels = weight_layers, recipe.outputs = weight_layers * (weight_layers + 1) / 2;
      break;
  }
  if (requested != RecipeOutputs::sweep) emit_at_end(recipe, requested);
  mark_pairs(recipe);
  carry_pairs(recipe);
  return recipe;
}

bool Recipe::at_nodes() const { return !steps.empty() && steps.back().before.nodes; }

bool Recipe::on_vectors() const {
  return input.is_vector() && std::none_of(steps.begin(), steps.end(), [](const Step& step) {
           return step.op == Op::window || step.op == Op::pool || step.op == Op::flatten || step.op == Op::attend;
         });
}

}  // namespace widelimit
