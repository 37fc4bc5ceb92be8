#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>
#include <utility>
#include <vector>

namespace widelimit {

/// Average ranks of k classifiers over N data sets, and whether they differ (Demšar 2006, Journal of Machine Learning
/// Research 7, 1–30).
struct RankComparison {
  std::vector<double> ranks;  ///< mean over the sets, 1 is best, equal scores share the mean of their ranks
  double chi_squared = 0;     ///< Friedman's 12N/(k(k+1))·(Σr² − k(k+1)²/4)
  double f = 0;               ///< of Iman and Davenport: (N−1)χ²/(N(k−1) − χ²)
  double p = 1;               ///< of a larger f where all classifiers are equal, from F with k−1 and (k−1)(N−1)
  /// Nemenyi's at 5 %: q·√(k(k+1)/6N), q the studentised range of k means by √2. Ranks that differ by less do not
  /// differ significantly.
  double critical_difference = 0;

  /// Classifiers from the best rank to the worst.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// Maximal runs of that order, first and last place, within one critical difference; runs of one are left out.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> groups() const;
};

/// Of scores sets × classifiers, larger is better. Error{usage} unless there are two sets and 2 to 10 classifiers.
[[nodiscard]] RankComparison compare_ranks(MatrixView<const double> scores);

/// How one classifier does beside the best of all on every set (Fernández-Delgado et al. 2014).
struct AccuracySummary {
  double mean = 0;
  double deviation = 0;  ///< of the accuracies, with N in the denominator
  double p90 = 0;        ///< share of sets with at least 90 % of the best accuracy
  double p95 = 0;        ///< with at least 95 %
  double share = 0;      ///< PMA: mean of accuracy/best accuracy
  double share_deviation = 0;
};

/// One for each column of accuracies, sets × classifiers.
[[nodiscard]] std::vector<AccuracySummary> summarise_accuracies(MatrixView<const double> accuracies);

}  // namespace widelimit
