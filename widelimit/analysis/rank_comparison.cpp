#include "widelimit/analysis/rank_comparison.hpp"

#include "widelimit/base/error.hpp"

#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Demšar (2006), Table 5(a), α = 0.05: studentised range for k = 2 … 10 groups and infinite degrees of freedom,
/// divided by √2.
constexpr std::array<double, 9> nemenyi_05{1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};

/// Returns the ranks of one row, 1 for the largest score; ties share their mean rank.
std::vector<double> ranks_of(const double* scores, Index count) {
  std::vector<double> ranks;
  for (Index i = 0; i < count; ++i) {
    const auto better = std::count_if(scores, scores + count, [&](double other) { return other > scores[i]; });
    const auto equal = std::count(scores, scores + count, scores[i]);
    ranks.push_back(static_cast<double>(better) + (static_cast<double>(equal) + 1) / 2);
  }
  return ranks;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Moments moments{std::accumulate(values.begin(), values.end(), 0.0) / n, 0};
  for (const double value : values) moments.deviation += std::pow(value - moments.mean, 2) / n;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

}  // namespace

std::vector<std::size_t> RankComparison::order() const {
  std::vector<std::size_t> places(ranks.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  return places;
}

std::vector<std::pair<std::size_t, std::size_t>> RankComparison::groups() const {
  const std::vector<std::size_t> places = order();
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t first = 0; first < places.size(); ++first) {
    std::size_t last = first;
    while (last + 1 < places.size() && ranks[places[last + 1]] - ranks[places[first]] < critical_difference) ++last;
    if (last > first && (runs.empty() || last > runs.back().second)) runs.emplace_back(first, last);
  }
  return runs;
}

RankComparison compare_ranks(MatrixView<const double> scores) {
  const Index k = scores.cols;
  if (scores.rows < 2 || k < 2 || k > std::ssize(nemenyi_05) + 1) {
    fail(Code::usage, "{} classifiers on {} sets; ranks need two sets and 2 to {} classifiers", k, scores.rows,
         nemenyi_05.size() + 1);
  }
  const auto sets = static_cast<double>(scores.rows);
  const auto count = static_cast<double>(k);
  RankComparison found{.ranks = std::vector<double>(usize(k), 0.0)};
  for (Index i = 0; i < scores.rows; ++i) {
    const std::vector<double> here = ranks_of(scores.row(i), k);
    for (std::size_t c = 0; c < here.size(); ++c) found.ranks[c] += here[c] / sets;
  }
  const double squares = std::inner_product(found.ranks.begin(), found.ranks.end(), found.ranks.begin(), 0.0);
  found.chi_squared =
      std::max(0.0, 12 * sets / (count * (count + 1)) * (squares - count * (count + 1) * (count + 1) / 4));
  const double left = sets * (count - 1) - found.chi_squared;
  const bool unanimous = left <= 1e-12 * sets * count;  // all sets give the same order
  found.f = unanimous ? std::numeric_limits<double>::infinity() : (sets - 1) * found.chi_squared / left;
  const boost::math::fisher_f_distribution<double> law(count - 1, (count - 1) * (sets - 1));
  found.p = unanimous ? 0 : boost::math::cdf(boost::math::complement(law, found.f));
  found.critical_difference = nemenyi_05[usize(k - 2)] * std::sqrt(count * (count + 1) / (6 * sets));
  return found;
}

std::vector<AccuracySummary> summarise_accuracies(MatrixView<const double> accuracies) {
  std::vector<AccuracySummary> result;
  for (Index c = 0; c < accuracies.cols; ++c) {
    std::vector<double> own;
    std::vector<double> shares;
    for (Index i = 0; i < accuracies.rows; ++i) {
      const double* row = accuracies.row(i);
      const double best = *std::max_element(row, row + accuracies.cols);
      own.push_back(row[c]);
      shares.push_back(best > 0 ? row[c] / best : 1);
    }
    const auto at_least = [&](double least) {
      const auto count = std::count_if(shares.begin(), shares.end(), [&](double share) { return share >= least; });
      return static_cast<double>(count) / static_cast<double>(shares.size());
    };
    const Moments accuracy = moments_of(own);
    const Moments share = moments_of(shares);
    result.push_back({accuracy.mean, accuracy.deviation, at_least(0.9), at_least(0.95), share.mean, share.deviation});
  }
  return result;
}

}  // namespace widelimit
