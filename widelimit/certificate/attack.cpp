#include "widelimit/certificate/attack.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/base/shared_progress.hpp"
#include "widelimit/certificate/descent.hpp"
#include "widelimit/certificate/gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Functionals of each point, nearest first.
std::vector<std::vector<Index>> candidates_of(const CertificateProblem& problem, std::span<const double> distance) {
  std::vector<std::vector<Index>> candidates(at(problem.points.rows));
  for (Index f = 0; f < std::ssize(distance); ++f) {
    if (std::isfinite(distance[at(f)])) candidates[at(problem.functionals[at(f)].point)].push_back(f);
  }
  for (auto& list : candidates) {
    std::stable_sort(list.begin(), list.end(), [&](Index a, Index b) { return distance[at(a)] < distance[at(b)]; });
  }
  return candidates;
}

/// x + factor·(found − x), inside the box.
void move_on(const CertificateProblem& problem, Index point, const double* found, double factor, double* to) {
  const double* x = problem.points.row(point);
  for (Index j = 0; j < problem.points.cols; ++j) {
    to[j] = factor == 1 ? found[j] : x[j] + factor * (found[j] - x[j]);
    if (problem.options.box) to[j] = std::clamp(to[j], problem.options.box->low, problem.options.box->high);
  }
}

/// Takes what `changed` confirms: each point's candidates in turn, each a little farther where it is not confirmed.
void confirm(const CertificateProblem& problem, const Descended& descended, const ClassChange& changed,
             Attacked& result) {
  constexpr std::array<double, 6> factors{1, 1 + 1e-9, 1 + 1e-6, 1 + 1e-4, 1.01, 1.2};
  const auto candidates = candidates_of(problem, descended.distance);
  std::vector<Index> open;
  for (Index k = 0; k < problem.points.rows; ++k) {
    if (!candidates[at(k)].empty()) open.push_back(k);
  }
  for (std::size_t attempt = 0; !open.empty(); ++attempt) {
    const std::size_t rank = attempt / factors.size();
    open.erase(std::remove_if(open.begin(), open.end(), [&](Index k) { return candidates[at(k)].size() <= rank; }),
               open.end());
    Matrix<double> samples(std::ssize(open), problem.points.cols, Content::unset);
    for (Index o = 0; o < std::ssize(open); ++o) {
      const Index functional = candidates[at(open[at(o)])][rank];
      move_on(problem, open[at(o)], descended.samples.view().row(functional), factors[attempt % factors.size()],
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
      std::copy_n(samples.view().row(o), problem.points.cols, result.samples.view().row(point));
      result.distance[at(point)] =
          distance_between(problem.options.norm, problem.points.row(point), samples.view().row(o), problem.points.cols);
    }
    open = std::move(left);
  }
}

}  // namespace

Attacked attack(const CertificateProblem& problem, const AttackOptions& options, const ClassChange& changed) {
  Attacked result{std::vector<double>(at(problem.points.rows), std::numeric_limits<double>::infinity()),
                  Matrix<double>(problem.points.rows, problem.points.cols, Content::unset)};
  for (Index k = 0; k < problem.points.rows; ++k) {
    std::copy_n(problem.points.row(k), problem.points.cols, result.samples.view().row(k));
  }
  if (problem.functionals.empty() || problem.support.rows == 0) return result;
  const Ranges ranges(problem);
  const FunctionalGradient gradient(problem, ranges.directions(), ranges.norms());
  const Index count = std::ssize(problem.functionals);
  Descended descended{std::vector<double>(at(count), std::numeric_limits<double>::infinity()),
                      Matrix<double>(count, problem.points.cols)};
  constexpr Index rows_at_once = 64;
  const Index tasks = (count + rows_at_once - 1) / rows_at_once;
  SharedProgress shared(problem.options.progress, tasks, "attacks");
  parallel_for(
      tasks, team_size(problem.options.threads),
      [&](Index task) {
        std::vector<Index> rows(at(std::min(rows_at_once, count - task * rows_at_once)));
        std::iota(rows.begin(), rows.end(), task * rows_at_once);
        AttackDescent descent(problem, gradient, rows, options, descended);
        for (Index start = 0; start <= options.restarts; ++start) descent.run(start, shared.get());
      },
      [&](Index done) { shared.at(done); });
  confirm(problem, descended, changed, result);
  return result;
}

}  // namespace widelimit
