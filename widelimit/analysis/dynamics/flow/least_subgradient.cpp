#include "widelimit/analysis/dynamics/flow/least_subgradient.hpp"

#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();
/// Empirical factor of the rounding error of Ku, whose entries are sums of n products.
constexpr double rounding_units = 32;

}  // namespace

LeastSubgradient::LeastSubgradient(const GramMatrix& k)
    : k_(k),
      columns_(std::make_shared<GramColumns<double>>(k)),
      slides_(usize(k.samples()), false),
      lengths_(usize(k.samples())) {
  for (Index i = 0; i < k.samples(); ++i) {
    lengths_[usize(i)] = std::sqrt(std::max(k.diagonal()[usize(i)], 0.0));
    total_ += lengths_[usize(i)];
  }
}

double LeastSubgradient::rounding(Index sample, double pull) const {
  return rounding_units * machine_epsilon * (std::abs(pull) + lengths_[usize(sample)] * total_);
}

void LeastSubgradient::move(const State& state, Index sample, double by) {
  if (by == 0) return;
  state.u[usize(sample)] += by;
  host::axpy(by, {columns_->column(sample), usize(k_.samples())}, state.product);
}

void LeastSubgradient::bind(std::size_t place) {
  slides_[usize(free_[place])] = false;
  factor_.remove(static_cast<Index>(place));
  free_.erase(free_.begin() + static_cast<Index>(place));
}

bool LeastSubgradient::solve(const State& state) {
  const std::size_t most = 100 + 20 * state.on_kink.size();
  for (std::size_t step = 0; step < most; ++step) {
    Index worst = -1;
    double violation = 0;
    for (const Index i : state.on_kink) {
      const std::size_t at = usize(i);
      if (slides(i)) continue;
      const double slope = state.pull[at] + state.product[at];
      const double inward = state.u[at] == state.lower[at] ? -slope : slope;
      if (inward <= rounding(i, state.pull[at])) continue;
      const double score = inward / std::max(lengths_[at], std::numeric_limits<double>::min());
      if (score > violation) {
        violation = score;
        worst = i;
      }
    }
    if (worst < 0) return true;
    release(state, worst);
  }
  return false;
}

void LeastSubgradient::release(const State& state, Index sample) {
  const std::size_t at = usize(sample);
  const double side = state.u[at] == state.lower[at] ? 1.0 : -1.0;
  double to_bound = state.upper[at] - state.lower[at];
  while (true) {
    // Along (−K_FF⁻¹K_Fi, 1) the slopes of sliding samples stay 0, and that of the released sample changes by the
    // pivot.
    std::vector<double> forward(free_.size());
    std::transform(free_.begin(), free_.end(), forward.begin(),
                   [column = columns_->column(sample)](Index j) { return column[j]; });
    factor_.forward(forward);
    const double diagonal = k_.diagonal()[usize(sample)];
    const double pivot = diagonal - host::dot(forward, forward);
    const bool dependent = pivot <= 8 * static_cast<double>(free_.size() + 1) * k_.epsilon() * diagonal;
    std::vector<double> direction = forward;
    factor_.backward(direction);
    const double inward = std::max(-side * (state.pull[at] + state.product[at]), 0.0);
    double step = dependent ? std::numeric_limits<double>::infinity() : inward / pivot;
    Index blocker = -1;
    if (step >= to_bound) {
      step = to_bound;
      blocker = std::ssize(free_);
    }
    for (std::size_t f = 0; f < free_.size(); ++f) {
      const double d = -side * direction[f];
      if (d == 0) continue;
      const std::size_t j = usize(free_[f]);
      const double left = d > 0 ? state.upper[j] - state.u[j] : state.u[j] - state.lower[j];
      if (left / std::abs(d) < step) {
        step = std::max(left, 0.0) / std::abs(d);
        blocker = static_cast<Index>(f);
      }
    }
    for (std::size_t f = 0; f < free_.size(); ++f) move(state, free_[f], -side * direction[f] * step);
    move(state, sample, side * step);
    to_bound -= step;
    if (blocker == std::ssize(free_)) break;
    if (blocker < 0) {
      factor_.append(forward, pivot);
      slides_[at] = true;
      free_.push_back(sample);
      return;
    }
    const std::size_t j = usize(free_[usize(blocker)]);
    state.u[j] = -side * direction[usize(blocker)] > 0 ? state.upper[j] : state.lower[j];
    bind(usize(blocker));
  }
  // Sets the bound exactly, since rounding can leave u next to it.
  state.u[at] = side > 0 ? state.upper[at] : state.lower[at];
}

void LeastSubgradient::refine(const State& state) {
  k_.multiply(state.u.data(), state.product.data());
  if (free_.empty()) return;
  std::vector<double> residual(free_.size());
  for (std::size_t f = 0; f < free_.size(); ++f) {
    residual[f] = -(state.pull[usize(free_[f])] + state.product[usize(free_[f])]);
  }
  factor_.solve(residual);
  for (std::size_t f = 0; f < free_.size(); ++f) {
    const std::size_t j = usize(free_[f]);
    const double to = std::clamp(state.u[j] + residual[f], state.lower[j], state.upper[j]);
    move(state, free_[f], to - state.u[j]);
  }
}

}  // namespace widelimit
