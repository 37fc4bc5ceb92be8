#include "widelimit/analysis/comparison/candidate_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

std::string_view to_string(PairedTest test) {
  switch (test) {
    case PairedTest::mcnemar:
      return "exact McNemar test";
    case PairedTest::paired_t:
      return "paired t-test";
    case PairedTest::corrected_t:
      return "corrected resampled t-test";
    case PairedTest::none:
      break;
  }
  return "none";
}

CandidateEvaluator::CandidateEvaluator(const SampleTargets& truth, const std::vector<SplitRows>& folds,
                                       std::vector<double> weights)
    : truth_(truth), folds_(folds), weights_(std::move(weights)) {
  std::vector<bool> tested(usize(truth.samples()), false);
  for (const SplitRows& fold : folds) {
    double weight = 0;
    for (const Index i : fold.test) {
      disjoint_ = disjoint_ && !tested[usize(i)];
      tested[usize(i)] = true;
      weight += factor_at(weights_, i);
      if (!weights_.empty()) sample_weights_.push_back(weights_[usize(i)]);
    }
    if (!(weight > 0)) fail(Code::input, "all test rows of a fold have weight 0; its error is undefined");
    fold_weights_.push_back(weight);
    ratio_ += static_cast<double>(fold.test.size()) / static_cast<double>(fold.train.size() * folds.size());
  }
  if (!disjoint_) {
    paired_ = PairedTest::corrected_t;  // overlap implies several folds
  } else if (truth.classes() && weights_.empty()) {
    paired_ = PairedTest::mcnemar;
  } else if (std::count(tested.begin(), tested.end(), true) > 1) {
    paired_ = PairedTest::paired_t;
  }
}

std::vector<double> CandidateEvaluator::losses(const ComparedKernel& row) const {
  std::vector<double> all;
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    const std::vector<double> here = losses_of(truth_, row.folds[f].predictions, folds_[f].test);
    all.insert(all.end(), here.begin(), here.end());
  }
  return all;
}

void CandidateEvaluator::evaluate(ComparedKernel& row) const {
  std::vector<double> errors;
  double sum = 0;
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    const double here = sum_of_errors(truth_, row.folds[f].predictions, folds_[f].test, weights_);
    row.folds[f].error = here / fold_weights_[f];
    errors.push_back(row.folds[f].error);
    sum += here;
  }
  const auto count = static_cast<double>(folds_.size());
  row.error = disjoint_ ? sum / std::accumulate(fold_weights_.begin(), fold_weights_.end(), 0.0)
                        : std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  if (paired_ == PairedTest::none) return;
  const std::vector<double> each = losses(row);
  if (paired_ == PairedTest::mcnemar) {
    row.interval = wilson_interval(std::llround(sum), std::ssize(each));
    return;
  }
  const double half =
      paired_ == PairedTest::paired_t ? t_half_width(each, sample_weights_) : corrected_t_half_width(errors, ratio_);
  row.interval = {std::max(0.0, row.error - half),
                  truth_.classes() ? std::min(1.0, row.error + half) : row.error + half};
}

double CandidateEvaluator::p_of(const ComparedKernel& a, const ComparedKernel& b) const {
  if (paired_ == PairedTest::corrected_t) {
    std::vector<double> differences;
    for (std::size_t f = 0; f < folds_.size(); ++f) differences.push_back(a.folds[f].error - b.folds[f].error);
    return corrected_t_p(differences, ratio_);
  }
  std::vector<double> differences = losses(a);
  const std::vector<double> others = losses(b);
  for (std::size_t i = 0; i < others.size(); ++i) differences[i] -= others[i];
  if (paired_ == PairedTest::paired_t) return paired_t_p(differences, sample_weights_);
  return mcnemar_p(std::count(differences.begin(), differences.end(), 1.0),
                   std::count(differences.begin(), differences.end(), -1.0));
}

}  // namespace widelimit
