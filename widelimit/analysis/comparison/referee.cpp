#include "widelimit/analysis/comparison/referee.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

std::string_view to_string(PairedTest test) {
  switch (test) {
    case PairedTest::mcnemar:
      return "exact McNemar test";
    case PairedTest::corrected_t:
      return "corrected resampled t-test";
    case PairedTest::none:
      break;
  }
  return "none";
}

Referee::Referee(const Truth& truth, const std::vector<SplitRows>& folds, std::vector<double> weights)
    : truth_(truth), folds_(folds), weights_(std::move(weights)) {
  std::vector<bool> tested(usize(truth.samples()), false);
  for (const SplitRows& fold : folds) {
    double weight = 0;
    for (const Index i : fold.test) {
      disjoint_ = disjoint_ && !tested[usize(i)];
      tested[usize(i)] = true;
      weight += weights_.empty() ? 1 : weights_[usize(i)];
    }
    if (!(weight > 0)) fail(Code::input, "all test rows of a fold have weight 0; an error of them means nothing");
    fold_weights_.push_back(weight);
    ratio_ += static_cast<double>(fold.test.size()) / static_cast<double>(fold.train.size() * folds.size());
  }
  if (truth.classes() && disjoint_ && weights_.empty()) {
    paired_ = PairedTest::mcnemar;
  } else if (folds.size() > 1) {
    paired_ = PairedTest::corrected_t;
  }
}

void Referee::judge(ComparedKernel& row) const {
  std::vector<double> errors;
  double sum = 0;
  Index tested = 0;
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    const double here = sum_of_errors(truth_, row.folds[f].told, folds_[f].test, weights_);
    row.folds[f].error = here / fold_weights_[f];
    errors.push_back(row.folds[f].error);
    sum += here;
    tested += std::ssize(folds_[f].test);
  }
  const auto count = static_cast<double>(folds_.size());
  row.error = disjoint_ ? sum / std::accumulate(fold_weights_.begin(), fold_weights_.end(), 0.0)
                        : std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  if (paired_ == PairedTest::mcnemar) {
    row.interval = wilson_interval(std::llround(sum), tested);
  } else if (paired_ == PairedTest::corrected_t) {
    const double half = corrected_t_half_width(errors, ratio_);
    row.interval = {std::max(0.0, row.error - half),
                    truth_.classes() ? std::min(1.0, row.error + half) : row.error + half};
  }
}

double Referee::p_of(const ComparedKernel& a, const ComparedKernel& b) const {
  if (paired_ == PairedTest::mcnemar) return p_of_samples(a, b);
  std::vector<double> differences;
  for (std::size_t f = 0; f < folds_.size(); ++f) differences.push_back(a.folds[f].error - b.folds[f].error);
  return corrected_t_p(differences, ratio_);
}

double Referee::p_of_samples(const ComparedKernel& a, const ComparedKernel& b) const {
  Index only_a = 0;
  Index only_b = 0;
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    for (std::size_t i = 0; i < folds_[f].test.size(); ++i) {
      const Index label = truth_.labels[usize(folds_[f].test[i])];
      const bool right_a = a.folds[f].told.classes[i] == label;
      const bool right_b = b.folds[f].told.classes[i] == label;
      only_a += right_a && !right_b ? 1 : 0;
      only_b += right_b && !right_a ? 1 : 0;
    }
  }
  return mcnemar_p(only_a, only_b);
}

}  // namespace widelimit
