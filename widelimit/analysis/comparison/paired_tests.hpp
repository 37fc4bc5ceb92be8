#pragma once

#include "widelimit/base/types.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// A confidence interval of 95 %.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Exact two-sided p of McNemar's test: of n samples that exactly one of two classifiers gets right, each got
/// `only_first` and `only_second`. Where both are equally good, each of these is a fair coin:
/// p = min(1, 2·P(B ≤ min)), B binomial of n and ½. (McNemar 1947; Dietterich 1998.) 1 where n = 0.
[[nodiscard]] double mcnemar_p(Index only_first, Index only_second);

/// Two-sided p of the paired t-test for the differences dᵢ of the losses of two machines on n samples, which weigh wᵢ,
/// or 1 where there are no weights: t = d̄/se with d̄ = Σwd/Σw, se² = n/(n − 1)·Σw²(d − d̄)²/(Σw)², n − 1 degrees of
/// freedom. It is the test of Diebold and Mariano (1995) for losses that are not correlated. 1 where all differences
/// are 0, 0 where they are equal and not 0. Error{usage} for fewer than two samples.
[[nodiscard]] double paired_t_p(std::span<const double> differences, std::span<const double> weights = {});

/// Half the width of the interval of 95 % of the mean loss by the same formula.
[[nodiscard]] double t_half_width(std::span<const double> losses, std::span<const double> weights = {});

/// Two-sided p of the corrected resampled t-test (Nadeau and Bengio 2003) for the differences d of the errors of two
/// machines on each of k folds: t = d̄/√((1/k + test/train)·s²), k − 1 degrees of freedom. The second term accounts for
/// training parts that overlap. `ratio` is test/train, the sizes of the parts of a fold. 1 where all differences are 0,
/// 0 where they are equal and not 0. Error{usage} for fewer than two folds.
[[nodiscard]] double corrected_t_p(std::span<const double> differences, double ratio);

/// Half the width of the interval of 95 % of the mean error over folds, with the same correction.
[[nodiscard]] double corrected_t_half_width(std::span<const double> errors, double ratio);

/// Wilson's score interval (1927) of a probability of which `hits` of `samples` were seen. Error{usage} for no samples.
[[nodiscard]] Interval wilson_interval(Index hits, Index samples);

/// Holm's adjusted p (1979) of m tests, in their order: the chance that any true hypothesis with an adjusted p below
/// 0.05 is rejected is at most 5 %, whatever the dependence of the tests. With p₍₁₎ ≤ … ≤ p₍ₘ₎ the j-th is the largest
/// of min(1, (m − i + 1)·p₍ᵢ₎), i ≤ j.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace widelimit
