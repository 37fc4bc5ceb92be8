#include "widelimit/recipe/limit_state.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Activations that are a factor on non-negative values.
bool is_rectifier(const Activation& activation) {
  return activation.phi == Phi::relu || activation.phi == Phi::leaky_relu || activation.phi == Phi::abs;
}

constexpr std::string_view random_variance =
    "reads values whose variance is random, since dropout or a sum acts on the inputs themselves";

}  // namespace

std::string_view LimitState::activate(const Activation& activation) {
  if (activation.phi == Phi::identity) return {};
  if (distribution_ == Distribution::gaussian && deterministic_moments_) {
    chain_.append(activation);
    return {};
  }
  if (nonnegative_ && is_rectifier(activation)) return {};
  return deterministic_moments_ ? what_ : random_variance;
}

bool LimitState::scale(double by) {
  if (chain_.empty()) {
    nonnegative_ = nonnegative_ && by >= 0;
    return false;
  }
  chain_.append(TwoSlopes{by, by});
  return true;
}

void LimitState::flatten() {
  if (one_position_) return;
  flatten_ = true;
  one_position_ = true;
}

LimitState::Pending LimitState::take_deferred() {
  Pending pending{std::move(chain_), flatten_};
  chain_ = {};
  flatten_ = false;
  if (!pending.chain.empty()) {
    distribution_ = Distribution::other;
    what_ = "reads the output of an activation, which is not Gaussian";
    zero_mean_ = pending.chain.is_odd();
    nonnegative_ = pending.chain.is_nonnegative();
  }
  if (pending.flatten && distribution_ == Distribution::gaussian) {
    distribution_ = Distribution::other;
    what_ = "reads flattened positions of different variance, which are not Gaussian";
  }
  return pending;
}

void LimitState::weigh() {
  distribution_ = Distribution::gaussian;
  zero_mean_ = true;
  nonnegative_ = false;
  std::fill(fresh_.begin(), fresh_.end(), true);
}

void LimitState::pool(bool over_all_positions) {
  one_position_ = one_position_ || over_all_positions;
  if (distribution_ == Distribution::other) what_ = "reads pooled values that are not Gaussian";
}

void LimitState::drop(double rate) {
  if (rate == 1) return;
  if (distribution_ == Distribution::input) {
    deterministic_moments_ = false;
    return;
  }
  distribution_ = Distribution::other;
  what_ = "reads values with dropout, which are not Gaussian";
}

std::string_view LimitState::normalise() {
  if (distribution_ == Distribution::input)
    return "reads the network's inputs, whose mean over channels the covariance does not determine";
  if (!deterministic_moments_) return random_variance;
  if (!zero_mean_) return "reads values whose mean over channels is not zero and not determined by the covariance";
  if (distribution_ == Distribution::other) what_ = "reads normalised values that are not Gaussian";
  return {};
}

std::string_view LimitState::attend() {
  if (!deterministic_moments_) return random_variance;
  weigh();
  return {};
}

bool LimitState::continues(const Layers& arm) const {
  if (chain_.empty() || flatten_ || arm.empty()) return false;
  if (const auto* residual = std::get_if<Residual>(&arm.front().value)) {
    return continues(residual->branch) || (residual->shortcut && continues(*residual->shortcut));
  }
  return std::holds_alternative<Activation>(arm.front().value) || std::holds_alternative<Scale>(arm.front().value);
}

std::string_view LimitState::join(const LimitState& other) {
  std::string_view reason;
  if (!zero_mean_ && !other.zero_mean_) {
    reason = "adds two branches whose means over units are both non-zero, so that their product has a non-zero mean";
  }
  if (!fresh_.back() && !other.fresh_.back()) reason = "adds two branches that depend on the same weights";
  const bool inputs = distribution_ == Distribution::input || other.distribution_ == Distribution::input;
  deterministic_moments_ = deterministic_moments_ && other.deterministic_moments_ && !inputs;
  distribution_ = distribution_ == Distribution::gaussian && other.distribution_ == Distribution::gaussian
                      ? Distribution::gaussian
                      : Distribution::other;
  if (distribution_ != Distribution::gaussian) what_ = "reads a sum with values that are not Gaussian";
  zero_mean_ = zero_mean_ && other.zero_mean_;
  nonnegative_ = nonnegative_ && other.nonnegative_;
  one_position_ = one_position_ && other.one_position_;
  fresh_.pop_back();
  for (std::size_t k = 0; k < fresh_.size(); ++k) fresh_[k] = fresh_[k] && other.fresh_[k];
  return reason;
}

}  // namespace widelimit
