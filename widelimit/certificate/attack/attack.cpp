#include "widelimit/certificate/attack/attack.hpp"

#include "widelimit/base/progress.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Returns the maximum decrease of a linear function with gradient `slope` in a ball of radius 1 (the dual norm).
double steepness_of(const AttackedRows& attacked, const double* slope, Index size) {
  return attacked.shape.norm == Norm::l2 ? euclidean_norm(slope, size) : sum_norm(slope, size, attacked.shape.widths);
}

}  // namespace

double AttackedRows::distance(const double* a, const double* b) const {
  std::vector<double> difference(usize(points.cols));
  for (Index j = 0; j < points.cols; ++j) difference[usize(j)] = above(std::abs(a[j] - b[j]));
  if (shape.norm == Norm::l2) return euclidean_norm(difference.data(), points.cols) * (1 + 0x1p-50);
  double largest = 0;
  for (Index j = 0; j < points.cols; ++j) {
    if (a[j] == b[j]) continue;
    largest =
        std::max(largest, shape.widths.empty() ? difference[usize(j)] : above(difference[usize(j)] / shape.width(j)));
  }
  return largest;
}

NearestSamples::NearestSamples(Index rows, Index features)
    : distance(usize(rows), std::numeric_limits<double>::infinity()), samples(rows, features) {}

AttackDescent::AttackDescent(const AttackedRows& attacked, AttackGoal goal, std::vector<Index> rows,
                             const AttackOptions& options, NearestSamples& found)
    : attacked_(attacked),
      goal_(std::move(goal)),
      rows_(std::move(rows)),
      options_(options),
      found_(found),
      x_(std::ssize(rows_), attacked.points.cols, Content::unset),
      slopes_(std::ssize(rows_), attacked.points.cols, Content::unset),
      values_(rows_.size()),
      reach_(rows_.size(), 0) {}

/// x ← point + shift, with the shift projected onto the ball of radius `reach`, then clamped to the box.
void AttackDescent::put(Index k, const std::vector<double>& shift, double reach) {
  const double* centre = point(k);
  const double length = attacked_.shape.norm == Norm::l2 ? euclidean_norm(shift.data(), x_.cols()) : 0;
  const double factor = length > reach ? reach / length : 1;
  for (Index j = 0; j < x_.cols(); ++j) {
    const double most = reach * attacked_.shape.width(j);
    const double moved =
        attacked_.shape.norm == Norm::l2 ? factor * shift[usize(j)] : std::clamp(shift[usize(j)], -most, most);
    double to = centre[j] + moved;
    if (attacked_.shape.box) to = attacked_.shape.box->clamp(to, j);
    x_(k, j) = to;
  }
}

/// Places the start: the point itself, or a random place within 0.9 times the best distance so far, so that a success
/// improves on it.
void AttackDescent::place(Index start) {
  std::vector<double> shift(usize(x_.cols()), 0);
  for (Index k = 0; k < x_.rows(); ++k) {
    const double best = found_.distance[usize(rows_[usize(k)])];
    if (start > 0) {
      if (std::isfinite(best)) reach_[usize(k)] = 0.9 * best;
      const auto stream = static_cast<std::uint64_t>(rows_[usize(k)] * 1024 + start);
      const Random random(options_.seed, stream);
      const double length =
          reach_[usize(k)] / (attacked_.shape.norm == Norm::l2 ? std::sqrt(static_cast<double>(x_.cols()) / 3) : 1);
      for (Index j = 0; j < x_.cols(); ++j) {
        shift[usize(j)] = length * attacked_.shape.width(j) * (2 * random.uniform(static_cast<std::uint64_t>(j)) - 1);
      }
    }
    put(k, shift, reach_[usize(k)]);
  }
}

void AttackDescent::evaluate() { goal_(x_.view(), rows_, values_.data(), slopes_.view()); }

void AttackDescent::keep(Index k) {
  const Index row = rows_[usize(k)];
  const double distance = attacked_.distance(point(k), x_.view().row(k));
  if (!(distance < found_.distance[usize(row)])) return;
  found_.distance[usize(row)] = distance;
  std::copy_n(x_.view().row(k), x_.cols(), found_.samples.view().row(row));
}

/// Takes a step. The sphere shrinks below the best distance after a success and otherwise grows, faster at first.
void AttackDescent::step(Index k, double progress) {
  const Index row = rows_[usize(k)], size = x_.cols();
  const double best = found_.distance[usize(row)];
  const double change = 0.002 + 0.1 * (1 - progress);
  const double* slope = slopes_.view().row(k);
  const double steepness = steepness_of(attacked_, slope, size);
  const bool known = steepness > 0 && std::isfinite(steepness);
  double& reach = reach_[usize(k)];
  if (reach == 0) {
    const double tangent = known ? std::abs(values_[usize(k)]) / steepness : 0;
    reach = tangent > 0 ? tangent : 1;
  } else if (values_[usize(k)] < 0) {
    reach = best * (1 - change);
  } else {
    reach = std::isfinite(best) ? std::min(reach * (1 + change), best * (1 - change / 8)) : reach * 1.25;
  }
  const double pace = reach * (1 - 0.9 * progress);
  const double* centre = point(k);
  std::vector<double> shift(usize(size));
  for (Index j = 0; j < size; ++j) {
    const auto sign = static_cast<double>((slope[j] > 0) - (slope[j] < 0));
    const double descent = !known                             ? 0
                           : attacked_.shape.norm == Norm::l2 ? pace / steepness * slope[j]
                                                              : pace * attacked_.shape.width(j) * sign;
    shift[usize(j)] = x_(k, j) - centre[j] - descent;
  }
  put(k, shift, reach);
}

/// Line search: bisects the last fifth of the segment from the point to the sample found.
void AttackDescent::bisect_segment() {
  std::vector<double> low(rows_.size(), 0.8), high(rows_.size(), 1);
  Matrix<double> ends(x_.rows(), x_.cols(), Content::unset);
  for (Index k = 0; k < x_.rows(); ++k)
    std::copy_n(found_.samples.view().row(rows_[usize(k)]), x_.cols(), ends.view().row(k));
  for (int halving = 0; halving < 8; ++halving) {
    for (Index k = 0; k < x_.rows(); ++k) {
      const double* centre = point(k);
      const double part = (low[usize(k)] + high[usize(k)]) / 2;
      for (Index j = 0; j < x_.cols(); ++j) x_(k, j) = centre[j] + part * (ends(k, j) - centre[j]);
    }
    evaluate();
    for (Index k = 0; k < x_.rows(); ++k) {
      if (!std::isfinite(found_.distance[usize(rows_[usize(k)])])) continue;
      const bool across = values_[usize(k)] < 0;
      if (across) keep(k);
      (across ? high : low)[usize(k)] = (low[usize(k)] + high[usize(k)]) / 2;
    }
  }
}

void AttackDescent::descend(Index start, Progress* progress) {
  ProgressTicker ticker(progress, options_.steps, "steps");
  place(start);
  for (Index t = 0; t <= options_.steps; ++t) {
    ticker.at(t);
    evaluate();
    for (Index k = 0; k < x_.rows(); ++k) {
      if (values_[usize(k)] < 0) keep(k);
      step(k, static_cast<double>(t) / static_cast<double>(options_.steps));
    }
  }
}

void AttackDescent::run(Progress* progress) {
  for (Index start = 0; start <= options_.restarts; ++start) descend(start, progress);
  bisect_segment();
}

namespace {

/// Returns the successful rows of each point, nearest first.
std::vector<std::vector<Index>> candidates_of(const AttackedRows& attacked, std::span<const double> distance) {
  std::vector<std::vector<Index>> candidates(usize(attacked.points.rows));
  for (Index row = 0; row < std::ssize(distance); ++row) {
    if (std::isfinite(distance[usize(row)])) candidates[usize(attacked.point[usize(row)])].push_back(row);
  }
  for (auto& list : candidates) {
    std::stable_sort(list.begin(), list.end(),
                     [&](Index a, Index b) { return distance[usize(a)] < distance[usize(b)]; });
  }
  return candidates;
}

/// to = x + factor·(found − x), clamped to the box and rounded to values that are representable in the original units.
void move_on(const AttackedRows& attacked, Index point, const double* found, double factor, double* to) {
  const double* x = attacked.points.row(point);
  for (Index j = 0; j < attacked.points.cols; ++j) {
    to[j] = factor == 1 ? found[j] : x[j] + factor * (found[j] - x[j]);
    if (attacked.shape.box) to[j] = attacked.shape.box->clamp(to[j], j);
    to[j] = representable(to[j], attacked.exponent);
  }
}

}  // namespace

Attacked confirmed(const AttackedRows& attacked, const NearestSamples& found, const ClassChange& changed) {
  const Index count = attacked.points.rows, features = attacked.points.cols;
  Attacked result{std::vector<double>(usize(count), std::numeric_limits<double>::infinity()),
                  Matrix<double>(count, features, Content::unset)};
  for (Index k = 0; k < count; ++k) std::copy_n(attacked.points.row(k), features, result.samples.view().row(k));
  constexpr std::array<double, 6> factors{1, 1 + 1e-9, 1 + 1e-6, 1 + 1e-4, 1.01, 1.2};
  const auto candidates = candidates_of(attacked, found.distance);
  std::vector<Index> open;
  for (Index k = 0; k < count; ++k) {
    if (!candidates[usize(k)].empty()) open.push_back(k);
  }
  for (std::size_t attempt = 0; !open.empty(); ++attempt) {
    const std::size_t rank = attempt / factors.size();
    open.erase(std::remove_if(open.begin(), open.end(), [&](Index k) { return candidates[usize(k)].size() <= rank; }),
               open.end());
    Matrix<double> samples(std::ssize(open), features, Content::unset);
    for (Index o = 0; o < std::ssize(open); ++o) {
      const Index row = candidates[usize(open[usize(o)])][rank];
      move_on(attacked, open[usize(o)], found.samples.view().row(row), factors[attempt % factors.size()],
              samples.view().row(o));
    }
    const std::vector<bool> yes = changed(samples.view(), open);
    std::vector<Index> left;
    for (Index o = 0; o < std::ssize(open); ++o) {
      const Index point = open[usize(o)];
      if (!yes[usize(o)]) {
        left.push_back(point);
        continue;
      }
      std::copy_n(samples.view().row(o), features, result.samples.view().row(point));
      result.distance[usize(point)] = attacked.distance(attacked.points.row(point), samples.view().row(o));
    }
    open = std::move(left);
  }
  return result;
}

Attacked attack(const AttackedRows& attacked, const AttackGoal& goal, const CertifyOptions& options,
                const Engine& engine, const ClassChange& changed) {
  const Index count = std::ssize(attacked.point);
  NearestSamples found(count, attacked.points.cols);
  // If the engine multiplies in its own memory, batches are larger but still keep all host threads busy.
  const Index shares = (count + engine.threads() - 1) / engine.threads();
  const Index rows_at_once = cones_of(engine) != nullptr ? std::clamp<Index>(shares, 64, 1024) : 64;
  const Index tasks = (count + rows_at_once - 1) / rows_at_once;
  SharedProgress shared(options.progress, tasks, "attacks");
  engine.for_each(
      tasks,
      [&](Index task) {
        std::vector<Index> rows(usize(std::min(rows_at_once, count - task * rows_at_once)));
        std::iota(rows.begin(), rows.end(), task * rows_at_once);
        AttackDescent(attacked, goal, std::move(rows), *options.attack, found).run(shared.get());
      },
      [&](Index done) { shared.at(done); });
  return confirmed(attacked, found, changed);
}

}  // namespace widelimit
