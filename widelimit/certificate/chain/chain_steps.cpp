#include "widelimit/certificate/chain/chain_steps.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

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
