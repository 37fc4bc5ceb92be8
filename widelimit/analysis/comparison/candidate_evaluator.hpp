#pragma once

#include "widelimit/analysis/comparison/compare.hpp"

#include <vector>

namespace widelimit {

/// Evaluates candidates on the test parts of the folds and computes p-values of their differences.
class CandidateEvaluator {
 public:
  /// `weights` of the samples in errors; empty means 1.
  CandidateEvaluator(const SampleTargets& truth, const std::vector<SplitRows>& folds, std::vector<double> weights);

  [[nodiscard]] PairedTest paired_test() const { return paired_; }
  /// Sets errors per fold, total error and confidence interval: over all test parts together or, if they overlap, the
  /// mean over folds.
  void evaluate(ComparedKernel& row) const;
  /// Returns the unadjusted p-value of two evaluated candidates.
  [[nodiscard]] double p_of(const ComparedKernel& a, const ComparedKernel& b) const;

 private:
  /// Returns the losses of all test samples, fold by fold.
  [[nodiscard]] std::vector<double> losses(const ComparedKernel& row) const;

  SampleTargets truth_;
  const std::vector<SplitRows>& folds_;
  std::vector<double> weights_;
  std::vector<double> fold_weights_;    ///< total weight of each test part
  std::vector<double> sample_weights_;  ///< weights of all test samples, fold by fold; empty means 1
  double ratio_ = 0;                    ///< ratio of test to training size, mean over folds
  bool disjoint_ = true;                ///< test parts do not overlap
  PairedTest paired_ = PairedTest::none;
};

}  // namespace widelimit
