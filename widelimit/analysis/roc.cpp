#include "widelimit/analysis/roc.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

/// Returns sample indices by descending score.
std::vector<std::size_t> by_falling_score(std::span<const double> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

void check_scores(std::span<const double> scores, const std::vector<bool>& positive) {
  if (scores.size() != positive.size()) {
    fail(Code::usage, "{} scores for {} samples", scores.size(), positive.size());
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) fail(Code::input, "score {} is {}; it must be finite", i, scores[i]);
  }
}

}  // namespace

std::optional<Roc> roc(std::span<const double> scores, const std::vector<bool>& positive) {
  check_scores(scores, positive);
  Roc result;
  result.positives = std::count(positive.begin(), positive.end(), true);
  result.negatives = std::ssize(positive) - result.positives;
  if (result.positives == 0 || result.negatives == 0) return std::nullopt;
  const std::vector<std::size_t> order = by_falling_score(scores);
  const auto share = [](Index part, Index all) { return static_cast<double>(part) / static_cast<double>(all); };
  Index above_positive = 0;
  Index above_negative = 0;
  Index twice_won = 0;  // twice the number of concordant pairs; doubled so that ties stay integers
  result.points.push_back({});
  for (std::size_t begin = 0; begin < order.size();) {
    Index tied_positive = 0;
    Index tied_negative = 0;
    std::size_t end = begin;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      ++(positive[order[end]] ? tied_positive : tied_negative);
    }
    twice_won += tied_negative * (2 * above_positive + tied_positive);
    above_positive += tied_positive;
    above_negative += tied_negative;
    result.points.push_back({share(above_negative, result.negatives), share(above_positive, result.positives)});
    begin = end;
  }
  result.area = static_cast<double>(twice_won) /
                (2 * static_cast<double>(result.positives) * static_cast<double>(result.negatives));
  return result;
}

}  // namespace widelimit
