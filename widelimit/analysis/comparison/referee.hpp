#pragma once

#include "widelimit/analysis/comparison/compare.hpp"

#include <vector>

namespace widelimit {

/// Says how good candidates are on the test parts of folds, and whether they differ.
class Referee {
 public:
  /// `weights` of the samples in errors; none means 1.
  Referee(const Truth& truth, const std::vector<SplitRows>& folds, std::vector<double> weights);

  [[nodiscard]] PairedTest paired_test() const { return paired_; }
  /// Sets the errors of its folds, its error and interval: of all test parts together, or, where they overlap, the mean
  /// over folds.
  void judge(ComparedKernel& row) const;
  /// p of two candidates that were judged, of this pair alone.
  [[nodiscard]] double p_of(const ComparedKernel& a, const ComparedKernel& b) const;

 private:
  /// Of the samples of all test parts, fold by fold.
  [[nodiscard]] std::vector<double> losses(const ComparedKernel& row) const;

  Truth truth_;
  const std::vector<SplitRows>& folds_;
  std::vector<double> weights_;
  std::vector<double> fold_weights_;    ///< of the test parts
  std::vector<double> sample_weights_;  ///< of the samples of all test parts, fold by fold; none means 1
  double ratio_ = 0;                    ///< of the sizes of test and training part, the mean over folds
  bool disjoint_ = true;                ///< no sample is tested twice
  PairedTest paired_ = PairedTest::none;
};

}  // namespace widelimit
