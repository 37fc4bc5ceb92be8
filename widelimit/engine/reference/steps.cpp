#include "widelimit/engine/reference/steps.hpp"

#include "widelimit/engine/reference/complement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace widelimit::reference {

namespace {

/// Calls f(array) for Σ and for each Θ_m.
template <typename F>
void for_each_kernel(State& state, const F& f) {
  f(state.sigma);
  for (auto& theta : state.theta) f(theta);
}

/// Calls f(array) for all arrays on which means and sums act linearly: Σ, rr' ∓ Σ (up to cauchy_difference), q − q',
/// Θ_m.
template <typename F>
void for_each_array(State& state, const F& f) {
  for_each_kernel(state, f);
  f(state.minus);
  f(state.plus);
  f(state.excess);
}

/// Standard deviations of both samples at a pair of positions.
Deviations deviations(const Trace& x1, const Trace& x2, Index p, Index q, Real excess) {
  return deviations_of(x1.variance[static_cast<std::size_t>(p)], x2.variance[static_cast<std::size_t>(q)], excess);
}

/// Calls f(p, q) for each pair of positions that the state holds.
template <typename F>
void for_each_pair(Index positions, bool all_pairs, const F& f) {
  for (Index p = 0; p < positions; ++p) {
    if (!all_pairs) f(p, p);
    for (Index q = 0; all_pairs && q < positions; ++q) f(p, q);
  }
}

/// Position read by window element (row, col) of output position p, or −1 for padding.
Index source(const Step& step, Index p, Index row, Index col) {
  const auto along = [&](Index out, Index element, Index stride, Index before, Index size) {
    const Index position = out * stride + element - before;
    if (step.circular) return ((position % size) + size) % size;
    return position >= 0 && position < size ? position : Index{-1};
  };
  const Index y = along(p / step.after.width, row, step.strides.height, step.offset.height, step.before.height);
  const Index x = along(p % step.after.width, col, step.strides.width, step.offset.width, step.before.width);
  return y < 0 || x < 0 ? -1 : y * step.before.width + x;
}

/// Replaces every array by sums over sources: gather(p, q, add) calls add(p', q') for each source pair of (p, q).
template <typename Gather>
void rebuild(const Step& step, bool all_pairs_after, State& state, const Gather& gather) {
  const Index positions = step.after.positions();
  State next{.positions = positions, .all_pairs = all_pairs_after};
  next.theta.resize(state.theta.size());
  std::vector<std::pair<const std::vector<Real>*, std::vector<Real>*>> arrays;
  for_each_array(state, [&](const std::vector<Real>& from) { arrays.emplace_back(&from, nullptr); });
  std::size_t next_array = 0;
  for_each_array(next, [&](std::vector<Real>& to) { arrays[next_array++].second = &to; });
  std::vector<std::size_t> sources;
  for_each_pair(positions, all_pairs_after, [&](Index p, Index q) {
    sources.clear();
    gather(p, q, [&](Index p1, Index q1) { sources.push_back(static_cast<std::size_t>(state.at(p1, q1))); });
    for (const auto& [from, to] : arrays) {
      Real sum = 0;
      for (const std::size_t k : sources) sum += (*from)[k];
      to->push_back(sum);
    }
  });
  state = std::move(next);
}

/// Resets the bounds on rr' ∓ Σ to the largest number, i.e. no bound.
void clear_complements(State& state) {
  state.minus.assign(state.sigma.size(), std::numeric_limits<Real>::max());
  state.plus = state.minus;
  state.excess.assign(state.sigma.size(), 0);
}

}  // namespace

void affine(const Step& step, const Trace& x1, const Trace& x2, State& state) {
  const auto w2 = static_cast<Real>(step.w2);
  const auto b2 = static_cast<Real>(step.b2);
  for_each_array(state, [&](std::vector<Real>& values) {
    for (Real& value : values) value *= w2;
  });
  for_each_pair(state.positions, state.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(state.at(p, q));
    const Deviations weights = deviations_of(w2 * x1.variance[static_cast<std::size_t>(p)],
                                             w2 * x2.variance[static_cast<std::size_t>(q)], state.excess[k]);
    const std::array<Deviations, 2> both{weights, deviations_of(b2, b2, 0)};
    const Real more = cauchy_difference(both);
    state.sigma[k] += b2;
    state.minus[k] += more;
    state.plus[k] += more + 2 * b2;
  });
  for (Index m = step.channel_begin; m < step.channel_end; ++m) {
    auto& theta = state.theta[static_cast<std::size_t>(m)];
    for (std::size_t k = 0; k < theta.size(); ++k) theta[k] += state.sigma[k];
  }
}

void dual(const Recipe& recipe, const Step& step, const Trace& x1, const Trace& x2, State& state) {
  for_each_pair(state.positions, state.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(state.at(p, q));
    const auto i = static_cast<std::size_t>(p);
    const auto j = static_cast<std::size_t>(q);
    const ActivationInput input{{x1.variance[i], x2.variance[j], state.sigma[k], state.minus[k], state.plus[k]},
                                state.excess[k],
                                x1.image[i],
                                x2.image[j]};
    const ActivationOutput output = activate(recipe, step.dual, input);
    state.sigma[k] = output.value.sigma;
    state.minus[k] = output.minus;
    state.plus[k] = output.plus;
    state.excess[k] = output.excess;
    for (auto& theta : state.theta) theta[k] *= output.value.dot;
  });
}

void window(const Step& step, const Trace& x1, const Trace& x2, State& state) {
  const auto for_each_source = [&](Index p, Index q, const auto& f) {
    for (Index row = 0; row < step.size.height; ++row) {
      for (Index col = 0; col < step.size.width; ++col) f(source(step, p, row, col), source(step, q, row, col));
    }
  };
  const State before = state;
  rebuild(step, state.all_pairs, state, [&](Index p, Index q, const auto& add) {
    for_each_source(p, q, [&](Index p1, Index q1) {
      if (p1 >= 0 && q1 >= 0) add(p1, q1);
    });
  });
  std::vector<Deviations> sources;
  for_each_pair(state.positions, state.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(state.at(p, q));
    sources.clear();
    for_each_source(p, q, [&](Index p1, Index q1) {
      const Real v1 = p1 < 0 ? 0 : x1.variance[static_cast<std::size_t>(p1)];
      const Real v2 = q1 < 0 ? 0 : x2.variance[static_cast<std::size_t>(q1)];
      const bool both = p1 >= 0 && q1 >= 0;
      if (!both) state.excess[k] += v1 - v2;
      sources.push_back(
          deviations_of(v1, v2, both ? before.excess[static_cast<std::size_t>(before.at(p1, q1))] : v1 - v2));
    });
    const Real more = cauchy_difference(sources);
    state.minus[k] += more;
    state.plus[k] += more;
  });
  for_each_array(state, [&](std::vector<Real>& values) {
    for (Real& value : values) value *= static_cast<Real>(step.scale);
  });
}

void pool(const Step& step, const Trace& x1, const Trace& x2, State& state) {
  const auto for_each_source = [&](Index p, const auto& f) {
    for (Index row = 0; row < step.size.height; ++row) {
      for (Index col = 0; col < step.size.width; ++col) {
        const Index from = source(step, p, row, col);
        if (from >= 0) f(from);
      }
    }
  };
  const State before = state;
  rebuild(step, step.all_pairs_after, state, [&](Index p, Index q, const auto& add) {
    for_each_source(p, [&](Index p1) { for_each_source(q, [&](Index q1) { add(p1, q1); }); });
  });
  const auto scale = static_cast<Real>(step.scale);
  for_each_kernel(state, [&](std::vector<Real>& values) {
    for (Real& value : values) value *= scale * scale;
  });
  clear_complements(state);
  for (Index p = 0; p < state.positions; ++p) {
    Real difference = 0;
    Real sum = 0;
    for_each_source(p, [&](Index p1) {
      const auto k = static_cast<std::size_t>(before.at(p1, p1));
      const Real r = deviations(x1, x2, p1, p1, before.excess[k]).difference;
      difference += scale * std::sqrt(r * r + 2 * before.minus[k]);
      sum += scale * std::sqrt(r * r + 2 * before.plus[k]);
    });
    const auto k = static_cast<std::size_t>(state.at(p, p));
    state.minus[k] = difference * difference / 2;
    state.plus[k] = sum * sum / 2;
  }
}

void flatten(const Trace& x1, const Trace& x2, State& state) {
  const Index positions = state.positions;
  std::vector<Deviations> sources;
  for (Index p = 0; p < positions; ++p) {
    sources.push_back(deviations(x1, x2, p, p, state.excess[static_cast<std::size_t>(state.at(p, p))]));
  }
  for_each_array(state, [&](std::vector<Real>& values) {
    Real sum = 0;
    for (Index p = 0; p < positions; ++p) sum += values[static_cast<std::size_t>(state.at(p, p))];
    values.assign(1, sum / static_cast<Real>(positions));
  });
  const Real more = cauchy_difference(sources) / static_cast<Real>(positions);
  state.minus[0] += more;
  state.plus[0] += more;
  state.positions = 1;
  state.all_pairs = false;
}

void layer_norm(const Trace& x1, const Trace& x2, State& state) {
  for_each_pair(state.positions, state.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(state.at(p, q));
    const Real q1 = x1.variance[static_cast<std::size_t>(p)];
    const Real q2 = x2.variance[static_cast<std::size_t>(q)];
    const Real scale = geometric_mean(q1, q2);
    for_each_array(state, [&](std::vector<Real>& values) { values[k] = scale > 0 ? values[k] / scale : 0; });
    state.excess[k] = static_cast<Real>(q1 > 0) - static_cast<Real>(q2 > 0);
  });
}

void dropout(const Step& step, bool self, const Trace& x1, const Trace& x2, State& state) {
  const auto rate = static_cast<Real>(step.rate);
  for_each_pair(state.positions, state.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(state.at(p, q));
    if (self && p == q) {
      for_each_array(state, [&](std::vector<Real>& values) { values[k] /= rate; });
      return;
    }
    const Real q1 = x1.variance[static_cast<std::size_t>(p)];
    const Real q2 = x2.variance[static_cast<std::size_t>(q)];
    const Real more = (1 / rate - 1) * geometric_mean(q1, q2);
    state.minus[k] += more;
    state.plus[k] += more;
    state.excess[k] /= rate;
  });
}

void complements_of_covariances(const Trace& x1, const Trace& x2, State& state) {
  for_each_pair(state.positions, state.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(state.at(p, q));
    const Real q1 = x1.variance[static_cast<std::size_t>(p)];
    const Real q2 = x2.variance[static_cast<std::size_t>(q)];
    const GaussianPair<Real> pair(q1, q2, state.sigma[k]);
    state.minus[k] = std::min(state.minus[k], pair.minus);
    state.plus[k] = std::min(state.plus[k], pair.plus);
    state.excess[k] = q1 - q2;
  });
}

std::vector<Real> attention_weights(const State& self) {
  std::vector<Real> zeta = self.sigma;
  for (Index p = 0; p < self.positions; ++p) {
    Real* row = zeta.data() + p * self.positions;
    const Real largest = *std::max_element(row, row + self.positions);
    Real sum = 0;
    for (Index q = 0; q < self.positions; ++q) sum += row[q] = std::exp(row[q] - largest);
    for (Index q = 0; q < self.positions; ++q) row[q] /= sum;
  }
  return zeta;
}

void attend(const Trace& x1, const Trace& x2, State& state) {
  const Index n = state.positions;
  const auto index = [n](Index i, Index j) { return static_cast<std::size_t>(i * n + j); };
  for_each_kernel(state, [&](std::vector<Real>& values) {
    std::vector<Real> half(values.size(), 0);
    std::vector<Real> whole(values.size(), 0);
    for (Index p = 0; p < n; ++p) {
      for (Index k = 0; k < n; ++k) {
        for (Index q = 0; q < n; ++q) half[index(p, q)] += x1.attention[index(p, k)] * values[index(k, q)];
      }
    }
    for (Index p = 0; p < n; ++p) {
      for (Index q = 0; q < n; ++q) {
        for (Index k = 0; k < n; ++k) whole[index(p, q)] += half[index(p, k)] * x2.attention[index(q, k)];
      }
    }
    values = std::move(whole);
  });
  clear_complements(state);
}

void join(const Trace& x1, const Trace& x2, State& state, const State& other) {
  State sum{.positions = state.positions, .all_pairs = state.all_pairs && other.all_pairs};
  const auto size = static_cast<std::size_t>(sum.all_pairs ? sum.positions * sum.positions : sum.positions);
  const auto add = [&](const std::vector<Real>& a, const std::vector<Real>& b) {
    std::vector<Real> result(size);
    for_each_pair(sum.positions, sum.all_pairs, [&](Index p, Index q) {
      result[static_cast<std::size_t>(sum.at(p, q))] =
          a[static_cast<std::size_t>(state.at(p, q))] + b[static_cast<std::size_t>(other.at(p, q))];
    });
    return result;
  };
  sum.sigma = add(state.sigma, other.sigma);
  sum.minus = add(state.minus, other.minus);
  sum.plus = add(state.plus, other.plus);
  sum.excess = add(state.excess, other.excess);
  for (std::size_t m = 0; m < state.theta.size(); ++m) sum.theta.push_back(add(state.theta[m], other.theta[m]));
  for_each_pair(sum.positions, sum.all_pairs, [&](Index p, Index q) {
    const auto k = static_cast<std::size_t>(sum.at(p, q));
    const std::array<Deviations, 2> both{
        deviations_of(x1.beneath[static_cast<std::size_t>(p)], x2.beneath[static_cast<std::size_t>(q)],
                      state.excess[static_cast<std::size_t>(state.at(p, q))]),
        deviations(x1, x2, p, q, other.excess[static_cast<std::size_t>(other.at(p, q))])};
    const Real more = cauchy_difference(both);
    sum.minus[k] += more;
    sum.plus[k] += more;
  });
  state = std::move(sum);
}

}  // namespace widelimit::reference
