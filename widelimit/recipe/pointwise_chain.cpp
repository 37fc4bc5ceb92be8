#include "widelimit/recipe/pointwise_chain.hpp"

#include <algorithm>

namespace widelimit {

namespace {

std::optional<TwoSlopes> two_slopes(const Activation& activation) {
  switch (activation.phi) {
    case Phi::relu:
      return TwoSlopes{1, 0};
    case Phi::leaky_relu:
      return TwoSlopes{1, activation.slope};
    case Phi::abs:
      return TwoSlopes{1, -1};
    case Phi::identity:
      return TwoSlopes{1, 1};
    default:
      return std::nullopt;
  }
}

bool odd(const Activation& activation) {
  switch (activation.phi) {
    case Phi::erf:
    case Phi::sin:
    case Phi::sign:
    case Phi::tanh:
      return true;
    case Phi::monomial:
    case Phi::hermite:
      return activation.degree % 2 == 1;
    case Phi::polynomial:
      for (std::size_t k = 0; k < activation.coef.size(); k += 2) {
        if (activation.coef[k] != 0) return false;
      }
      return true;
    default:
      return false;
  }
}

bool nonnegative(const Activation& activation) {
  switch (activation.phi) {
    case Phi::sigmoid:
    case Phi::softplus:
    case Phi::exp:
    case Phi::gaussian:
    case Phi::rectified_monomial:
      return true;
    case Phi::monomial:
      return activation.degree % 2 == 0;
    default:
      return false;
  }
}

/// outer∘inner
TwoSlopes compose_slopes(const TwoSlopes& outer, const TwoSlopes& inner) {
  return {inner.positive * (inner.positive >= 0 ? outer.positive : outer.negative),
          inner.negative * (inner.negative <= 0 ? outer.positive : outer.negative)};
}

/// A two-slope function with positive ≠ 0 as an activation times a factor; reduced() handles positive = 0.
Activation as_activation(const TwoSlopes& slopes, double* factor) {
  *factor = slopes.positive;
  if (slopes.negative == 0) return {.phi = Phi::relu};
  if (slopes.negative == -slopes.positive) return {.phi = Phi::abs};
  Activation leaky{.phi = Phi::leaky_relu};
  leaky.slope = slopes.negative / slopes.positive;
  return leaky;
}

}  // namespace

void PointwiseChain::append(const TwoSlopes& slopes) {
  if (slopes == TwoSlopes{1, 1}) return;
  if (links_.empty()) {
    links_.emplace_back(slopes);
    return;
  }
  if (auto* last = std::get_if<TwoSlopes>(&links_.back())) {
    *last = compose_slopes(slopes, *last);
    const auto* before = links_.size() > 1 ? std::get_if<Activation>(&links_[links_.size() - 2]) : nullptr;
    if (before != nullptr && nonnegative(*before)) last->negative = last->positive;
    if (*last == TwoSlopes{1, 1}) links_.pop_back();
  } else if (nonnegative(std::get<Activation>(links_.back()))) {
    if (slopes.positive != 1) links_.emplace_back(TwoSlopes{slopes.positive, slopes.positive});
  } else {
    links_.emplace_back(slopes);
  }
}

void PointwiseChain::append(const Activation& activation) {
  if (const auto slopes = two_slopes(activation)) {
    append(*slopes);
  } else {
    links_.emplace_back(activation);
  }
}

bool PointwiseChain::is_odd() const {
  return std::all_of(links_.begin(), links_.end(), [](const Link& link) {
    if (const auto* slopes = std::get_if<TwoSlopes>(&link)) return slopes->is_scale();
    return odd(std::get<Activation>(link));
  });
}

bool PointwiseChain::is_nonnegative() const {
  if (links_.empty()) return false;
  const Link& last = links_.back();
  if (const auto* activation = std::get_if<Activation>(&last)) return nonnegative(*activation);
  const auto& slopes = std::get<TwoSlopes>(last);
  if (slopes.positive >= 0 && slopes.negative <= 0) return true;
  const auto* before = links_.size() > 1 ? std::get_if<Activation>(&links_[links_.size() - 2]) : nullptr;
  return before != nullptr && nonnegative(*before) && slopes.positive >= 0;
}

PointwiseChain::Reduced PointwiseChain::reduced() const {
  Reduced result{TwoSlopes{}, 1.0};
  std::vector<Link> links = links_;
  if (links.size() > 1) {
    if (const auto* last = std::get_if<TwoSlopes>(&links.back()); last != nullptr && last->is_scale()) {
      result.factor = last->positive;
      links.pop_back();
    }
  }
  if (links.size() == 1) {
    std::visit([&](const auto& only) { result.function = only; }, links.front());
    return result;
  }
  std::vector<Activation> chain;
  for (const Link& link : links) {
    if (const auto* activation = std::get_if<Activation>(&link)) {
      chain.push_back(*activation);
      continue;
    }
    // If p = 0, the function n·min(x, 0) is no activation times a factor; it is written as the polynomial −x, relu and
    // a factor.
    const auto& slopes = std::get<TwoSlopes>(link);
    double factor = 1;
    if (slopes.positive != 0) {
      chain.push_back(as_activation(slopes, &factor));
    } else {
      chain.push_back({.phi = Phi::polynomial, .coef = {0.0, -1.0}});
      chain.push_back({.phi = Phi::relu});
      factor = -slopes.negative;
    }
    if (factor != 1) chain.push_back({.phi = Phi::polynomial, .coef = {0.0, factor}});
  }
  result.function = std::move(chain);
  return result;
}

std::shared_ptr<const Pointwise> compose(const std::vector<Activation>& chain) {
  std::vector<std::shared_ptr<const Pointwise>> parts;
  std::string name;
  bool differentiable = true;
  for (const Activation& activation : chain) {
    parts.push_back(make_pointwise(activation));
    name += (name.empty() ? "" : " ") + parts.back()->name();
    differentiable = differentiable && activation.phi != Phi::custom;
  }
  const auto value = [parts](std::span<const double> x, std::span<double> y) {
    std::vector<double> from(x.begin(), x.end());
    for (const auto& part : parts) {
      part->value(from, y);
      from.assign(y.begin(), y.end());
    }
  };
  const auto slope = [parts](std::span<const double> x, std::span<double> y) {
    std::vector<double> at(x.begin(), x.end());
    std::vector<double> next(x.size());
    std::fill(y.begin(), y.end(), 1.0);
    for (const auto& part : parts) {
      part->slope({}, at, next);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] *= next[i];
      part->value(at, next);
      at.swap(next);
    }
  };
  return std::make_shared<const Pointwise>(name, Differentiable{value, differentiable ? Function(slope) : Function()});
}

}  // namespace widelimit
