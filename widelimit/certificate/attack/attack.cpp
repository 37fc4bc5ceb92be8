#include "widelimit/certificate/attack/attack.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/shared_progress.hpp"
#include "widelimit/certificate/binary_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Rows of each point, nearest first.
std::vector<std::vector<Index>> candidates_of(const AttackedRows& attacked, std::span<const double> distance) {
  std::vector<std::vector<Index>> candidates(at(attacked.points.rows));
  for (Index row = 0; row < std::ssize(distance); ++row) {
    if (std::isfinite(distance[at(row)])) candidates[at(attacked.point[at(row)])].push_back(row);
  }
  for (auto& list : candidates) {
    std::stable_sort(list.begin(), list.end(), [&](Index a, Index b) { return distance[at(a)] < distance[at(b)]; });
  }
  return candidates;
}

/// x + factor·(found − x), inside the box and among the numbers that samples may have.
void move_on(const AttackedRows& attacked, Index point, const double* found, double factor, double* to) {
  const double* x = attacked.points.row(point);
  for (Index j = 0; j < attacked.points.cols; ++j) {
    to[j] = factor == 1 ? found[j] : x[j] + factor * (found[j] - x[j]);
    if (attacked.box) to[j] = std::clamp(to[j], attacked.box->low, attacked.box->high);
    to[j] = representable(to[j], attacked.exponent);
  }
}

}  // namespace

Attacked confirmed(const AttackedRows& attacked, const Descended& found, const ClassChange& changed) {
  const Index count = attacked.points.rows, features = attacked.points.cols;
  Attacked result{std::vector<double>(at(count), std::numeric_limits<double>::infinity()),
                  Matrix<double>(count, features, Content::unset)};
  for (Index k = 0; k < count; ++k) std::copy_n(attacked.points.row(k), features, result.samples.view().row(k));
  constexpr std::array<double, 6> factors{1, 1 + 1e-9, 1 + 1e-6, 1 + 1e-4, 1.01, 1.2};
  const auto candidates = candidates_of(attacked, found.distance);
  std::vector<Index> open;
  for (Index k = 0; k < count; ++k) {
    if (!candidates[at(k)].empty()) open.push_back(k);
  }
  for (std::size_t attempt = 0; !open.empty(); ++attempt) {
    const std::size_t rank = attempt / factors.size();
    open.erase(std::remove_if(open.begin(), open.end(), [&](Index k) { return candidates[at(k)].size() <= rank; }),
               open.end());
    Matrix<double> samples(std::ssize(open), features, Content::unset);
    for (Index o = 0; o < std::ssize(open); ++o) {
      const Index row = candidates[at(open[at(o)])][rank];
      move_on(attacked, open[at(o)], found.samples.view().row(row), factors[attempt % factors.size()],
              samples.view().row(o));
    }
    const std::vector<bool> yes = changed(samples.view(), open);
    std::vector<Index> left;
    for (Index o = 0; o < std::ssize(open); ++o) {
      const Index point = open[at(o)];
      if (!yes[at(o)]) {
        left.push_back(point);
        continue;
      }
      std::copy_n(samples.view().row(o), features, result.samples.view().row(point));
      result.distance[at(point)] =
          distance_between(attacked.norm, attacked.points.row(point), samples.view().row(o), features);
    }
    open = std::move(left);
  }
  return result;
}

Attacked attack(const AttackedRows& attacked, const AttackGoal& goal, const CertifyOptions& options,
                const ClassChange& changed) {
  const Index count = std::ssize(attacked.point);
  Descended found(count, attacked.points.cols);
  constexpr Index rows_at_once = 64;
  const Index tasks = (count + rows_at_once - 1) / rows_at_once;
  SharedProgress shared(options.progress, tasks, "attacks");
  parallel_for(
      tasks, team_size(options.threads),
      [&](Index task) {
        std::vector<Index> rows(at(std::min(rows_at_once, count - task * rows_at_once)));
        std::iota(rows.begin(), rows.end(), task * rows_at_once);
        AttackDescent(attacked, goal, std::move(rows), *options.attack, found).run(shared.get());
      },
      [&](Index done) { shared.at(done); });
  return confirmed(attacked, found, changed);
}

}  // namespace widelimit
