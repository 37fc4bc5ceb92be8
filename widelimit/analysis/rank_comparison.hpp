#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>
#include <utility>
#include <vector>

namespace widelimit {

/// Average ranks of k classifiers over N data sets, and tests of their differences (Demšar 2006, Journal of Machine
/// Learning Research 7, 1–30).
struct RankComparison {
  std::vector<double> ranks;  ///< mean over the sets; 1 is best, ties share their mean rank
  double chi_squared = 0;     ///< Friedman statistic 12N/(k(k+1))·(Σr² − k(k+1)²/4)
  double f = 0;               ///< Iman–Davenport statistic (N−1)χ²/(N(k−1) − χ²)
  double p = 1;  ///< p-value of f under the null hypothesis, F-distributed with k−1 and (k−1)(N−1) degrees
                 ///< of freedom
  /// Nemenyi critical difference at 5 %: q·√(k(k+1)/6N), q the studentised range of k means divided by √2. Smaller
  /// differences of ranks are not significant.
  double critical_difference = 0;

  /// Returns the classifiers from the best rank to the worst.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// Returns the maximal runs [first, last] of order() within one critical difference, without runs of length one.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> groups() const;
};

/// Compares scores, sets × classifiers, larger is better. Throws Error{usage} unless there are at least two sets and 2
/// to 10 classifiers.
[[nodiscard]] RankComparison compare_ranks(MatrixView<const double> scores);

/// Accuracy of one classifier relative to the best on each set (Fernández-Delgado et al. 2014).
struct AccuracySummary {
  double mean = 0;
  double deviation = 0;  ///< standard deviation of the accuracies, divisor N
  double p90 = 0;        ///< fraction of sets with at least 90 % of the best accuracy
  double p95 = 0;        ///< fraction of sets with at least 95 %
  double share = 0;      ///< percentage of the maximum accuracy (PMA): mean of accuracy/best accuracy
  double share_deviation = 0;
};

/// Returns one summary per column of accuracies, sets × classifiers.
[[nodiscard]] std::vector<AccuracySummary> summarise_accuracies(MatrixView<const double> accuracies);

}  // namespace widelimit
