#include "widelimit/certificate/chain/chain.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/limit_state.hpp"
#include "widelimit/recipe/pointwise_chain.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace widelimit {

namespace {

class ChainReader {
 public:
  ChainReader(bool positions, Chain& chain) : positions_(positions), chain_(chain), state_(!positions) {}

  void read(const Layers& list) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      place_ = fmt::format("layer {} ({})", k + 1, to_text(list[k]));
      std::visit([this](const auto& layer) { (*this)(layer); }, list[k].value);
    }
    apply_deferred();
  }

  void operator()(const Dense& dense) {
    apply_deferred();
    state_.weigh();
    push({.w_std = dense.w_std, .b_std = dense.b_std, .trained = !dense.frozen, .place = place_});
  }
  void operator()(const Scale& scale) {
    if (!state_.scale(scale.by)) push({.w_std = scale.by, .trained = false, .place = place_});
  }
  void operator()(const Flatten&) {
    positions_ = false;
    state_.flatten();
  }

  void operator()(const Activation& activation) {
    if (positions_) refuse("acts on positions of an image; flatten first");
    const bool known =
        activation.phi == Phi::relu || activation.phi == Phi::identity || activation.phi == Phi::leaky_relu;
    if (!known) refuse("is not a rectifier; certificates support relu, leaky_relu with a slope ≥ 0 and identity");
    if (activation.phi == Phi::leaky_relu && activation.slope < 0) {
      refuse("decreases for negative values, so that its kernel does not increase with the cosine");
    }
    if (const std::string_view reason = state_.activate(activation); !reason.empty()) refuse(reason);
    rectifier_ = place_;
  }

  template <typename Other>
  void operator()(const Other&) {
    refuse("has no certificate; fully connected networks do: dense layers with relu between them, such as fc:2 or eq2");
  }

 private:
  /// Merges a sequence of rectifiers with scales between them into one rectifier times a factor.
  void apply_deferred() {
    const LimitState::Pending pending = state_.take_deferred();
    if (pending.chain.empty()) return;
    const auto slopes = std::get<TwoSlopes>(pending.chain.reduced().function);
    place_ = std::exchange(rectifier_, place_);
    const bool turned = slopes.positive == 0;
    const double steep = turned ? slopes.negative : slopes.positive;
    const double slope = steep == 0 ? 0 : (turned ? slopes.positive : slopes.negative) / steep;
    if (slope < 0) refuse("decreases for some values if the scale before it is included");
    push({.rectifier = true, .slope = slope, .place = place_});
    if (steep != 1) push({.w_std = steep, .trained = false, .place = place_});
    place_ = std::exchange(rectifier_, place_);
  }

  void push(ChainLayer layer) { chain_.layers.push_back(std::move(layer)); }
  [[noreturn]] void refuse(std::string_view reason) const { fail(Code::usage, "{} {}", place_, reason); }

  bool positions_;
  Chain& chain_;
  LimitState state_;
  std::string place_;
  std::string rectifier_;  ///< description of the last rectifier
};

}  // namespace

Chain read_chain(const Network& network, const Shape& shape) {
  static_cast<void>(infer_shapes(network, shape));
  const Shape input = effective_input(network, shape);
  Chain chain;
  chain.features = input.size();
  ChainReader(!input.is_vector(), chain).read(network.layers);
  return chain;
}

namespace {

bool lifts(const Chain& chain) {
  return !chain.layers.empty() && !chain.layers.front().rectifier && chain.layers.front().w_std != 0;
}

bool has_bias(std::span<const ChainStep> steps) {
  return std::any_of(steps.begin(), steps.end(), [](const ChainStep& step) { return step.b_std != 0; });
}

}  // namespace

ChainSteps::ChainSteps(const Chain& chain, Kind kind)
    : features_(static_cast<double>(chain.features)), tangent_(kind == Kind::ntk), lifts_(lifts(chain)) {
  for (const ChainLayer& layer : chain.layers) {
    steps_.push_back({.slope = layer.slope,
                      .w_std = layer.w_std,
                      .b_std = layer.b_std,
                      .rectifier = layer.rectifier ? 1 : 0,
                      .trained = layer.trained ? 1 : 0});
  }
}

ChainView ChainSteps::view() const {
  return {.steps = steps_.data(),
          .depth = static_cast<std::int32_t>(steps_.size()),
          .tangent = tangent_ ? 1 : 0,
          .lifts = lifts_ ? 1 : 0,
          .features = features_};
}

bool ChainSteps::biased() const { return has_bias(steps_); }

bool ChainSteps::biased_later() const {
  return has_bias(std::span(steps_).subspan(std::min<std::size_t>(1, steps_.size())));
}

Interval lifted_coordinate(const Chain& chain) {
  if (!lifts(chain)) return Interval::of(0);
  const ChainLayer& layer = chain.layers.front();
  return Interval::of(std::abs(layer.b_std)) * sqrt(Interval::of(static_cast<double>(chain.features))) /
         Interval::of(std::abs(layer.w_std));
}

}  // namespace widelimit
