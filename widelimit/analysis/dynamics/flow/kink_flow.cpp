#include "widelimit/analysis/dynamics/flow/kink_flow.hpp"

#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// After so many events Ku and g are recomputed, so that rounding does not accumulate.
constexpr Index events_between_refreshes = 64;
/// A list of events is for readers.
constexpr std::size_t most_listed_events = 100'000;
constexpr double kink_rounding = 64 * std::numeric_limits<double>::epsilon();

std::size_t nth(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

KinkFlow::KinkFlow(Input input, std::function<void()> beat)
    : in_(std::move(input)), beat_(std::move(beat)), least_(in_.k) {
  const std::size_t n = in_.targets.size();
  for (const double y : in_.targets) kinks_.push_back(kinks_of(in_.loss, y));
  piece_.assign(n, 0);
  kink_.assign(n, -1);
  for (auto* list : {&g_, &u_, &product_, &pull_, &lower_, &upper_}) list->assign(n, 0.0);
  place();
}

LeastSubgradient::State KinkFlow::state() { return {on_kink_, lower_, upper_, pull_, u_, product_}; }

void KinkFlow::set_on_kink(Index sample, int kink) {
  const Kinks& kinks = kinks_[nth(sample)];
  const auto below = static_cast<std::size_t>(kink);
  kink_[nth(sample)] = kink;
  on_kink_.push_back(sample);
  lower_[nth(sample)] = kinks.slope[below];
  upper_[nth(sample)] = kinks.slope[below + 1];
  g_[nth(sample)] = kinks.at[below];
}

void KinkFlow::place() {
  in_.k.multiply(in_.alpha.data(), g_.data());
  for (Index i = 0; i < std::ssize(g_); ++i) {
    double& g = g_[nth(i)];
    g += in_.offset[nth(i)];
    const Kinks& kinks = kinks_[nth(i)];
    int piece = 0;
    for (int p = 0; p < kinks.count; ++p) {
      const double at = kinks.at[static_cast<std::size_t>(p)];
      if (std::abs(g - at) <= kink_rounding * std::max(std::abs(at), std::abs(g))) {
        set_on_kink(i, p);
        break;
      }
      if (g > at) piece = p + 1;
    }
    piece_[nth(i)] = piece;
    u_[nth(i)] = kinks.slope[static_cast<std::size_t>(piece)];
  }
  settle(-1);
}

KinkFlow::Next KinkFlow::next_event() const {
  const double lambda = in_.lambda;
  Next next;
  double soonest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < std::ssize(g_); ++i) {
    if (kink_[nth(i)] >= 0) continue;
    const double speed = -lambda * g_[nth(i)] - product_[nth(i)];
    const int kink = speed > 0 ? piece_[nth(i)] : piece_[nth(i)] - 1;
    if (kink < 0 || kink >= kinks_[nth(i)].count) continue;
    if (std::abs(speed) <= least_.rounding(i, lambda * g_[nth(i)])) continue;
    // At this speed, without its decay; τ grows with it, so that one logarithm is enough.
    const double ahead = std::max((kinks_[nth(i)].at[static_cast<std::size_t>(kink)] - g_[nth(i)]) / speed, 0.0);
    if (lambda * ahead < 1 && ahead < soonest) {
      soonest = ahead;
      next.sample = i;
      next.kink = kink;
    }
  }
  next.after = lambda == 0 ? soonest : -std::log1p(-lambda * soonest) / lambda;
  return next;
}

void KinkFlow::move(double tau) {
  const double lambda = in_.lambda;
  // Without λ nothing moves any more when no event is left, but for coefficients of the null space.
  if (tau == 0 || (std::isinf(tau) && lambda == 0)) return;
  const double left = decay(lambda, tau);
  const double span = decayed_time(lambda, tau);
  for (std::size_t i = 0; i < g_.size(); ++i) {
    in_.alpha[i] = left * in_.alpha[i] - span * u_[i];
    if (kink_[i] < 0) g_[i] = left * g_[i] - span * product_[i];
  }
  offset_left_ *= left;
}

bool KinkFlow::advance(double time) {
  while (settled_) {
    beat_();
    if (time <= time_) return true;
    const Next next = next_event();
    if (next.sample < 0 || time_ + next.after > time) {
      if (std::isinf(time)) refresh();
      move(time - time_);
      time_ = time;
      return true;
    }
    if (count_ == in_.most_events) return false;
    move(next.after);
    time_ += next.after;
    arrive(next);
    if (count_ % events_between_refreshes == 0) refresh();
  }
  return false;
}

void KinkFlow::arrive(const Next& next) {
  ++count_;
  set_on_kink(next.sample, next.kink);
  settle(next.sample);
}

void KinkFlow::settle(Index arrived) {
  std::vector<bool> held(on_kink_.size());
  for (std::size_t e = 0; e < on_kink_.size(); ++e) {
    held[e] = least_.slides(on_kink_[e]);
    pull_[nth(on_kink_[e])] = in_.lambda * g_[nth(on_kink_[e])];
  }
  if (count_ == 0) least_.refine(state());
  settled_ = least_.solve(state());
  std::vector<Index> staying;
  for (std::size_t e = 0; e < on_kink_.size(); ++e) {
    const Index i = on_kink_[e];
    const bool slides = least_.slides(i);
    const double speed = -(pull_[nth(i)] + product_[nth(i)]);
    const bool below = u_[nth(i)] == lower_[nth(i)];
    const bool goes = !slides && (below ? -speed : speed) > least_.rounding(i, pull_[nth(i)]);
    if (goes) {
      piece_[nth(i)] = kink_[nth(i)] + (below ? 0 : 1);
      kink_[nth(i)] = -1;
    } else {
      staying.push_back(i);
    }
    if (i != arrived && held[e] == slides) continue;
    const Meeting meeting = slides         ? Meeting::slides
                            : !goes        ? Meeting::rests
                            : i == arrived ? Meeting::crosses
                                           : Meeting::leaves;
    if (events_.size() < most_listed_events) events_.push_back({time_, i, in_.output, meeting});
  }
  on_kink_ = std::move(staying);
  most_sliding_ = std::max(most_sliding_, least_.sliding());
}

void KinkFlow::refresh() {
  least_.refine(state());
  std::vector<double> fresh(g_.size());
  in_.k.multiply(in_.alpha.data(), fresh.data());
  for (std::size_t i = 0; i < g_.size(); ++i) {
    if (kink_[i] < 0) g_[i] = fresh[i] + offset_left_ * in_.offset[i];
  }
}

}  // namespace widelimit
