#pragma once

#include "widelimit/base/types.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// 95 % confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Returns the exact two-sided p-value of McNemar's test for two classifiers, where `only_first` (`only_second`)
/// samples are classified correctly by the first (second) one only. Under the null hypothesis both counts are binomial
/// with n = only_first + only_second and probability ½: p = min(1, 2·P(B ≤ min)), 1 if n = 0 (McNemar 1947; Dietterich
/// 1998).
[[nodiscard]] double mcnemar_p(Index only_first, Index only_second);

/// Returns the two-sided p-value of the paired t-test for the differences dᵢ of the losses of two machines on n samples
/// with weights wᵢ (default 1): t = d̄/se with d̄ = Σwd/Σw, se² = n/(n − 1)·Σw²(d − d̄)²/(Σw)², n − 1 degrees of
/// freedom. It equals the test of Diebold and Mariano (1995) for uncorrelated losses. 1 if all differences are 0, 0 if
/// they are equal and not 0. Throws Error{usage} for fewer than two samples.
[[nodiscard]] double paired_t_p(std::span<const double> differences, std::span<const double> weights = {});

/// Returns half the width of the 95 % interval of the mean loss by the same formula.
[[nodiscard]] double t_half_width(std::span<const double> losses, std::span<const double> weights = {});

/// Returns the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio 2003) for the differences d of
/// the errors of two machines on k folds: t = d̄/√((1/k + test/train)·s²), k − 1 degrees of freedom. The second term
/// accounts for overlapping training parts. `ratio` is test/train, the ratio of the sizes. 1 if all differences are 0,
/// 0 if they are equal and not 0. Throws Error{usage} for fewer than two folds.
[[nodiscard]] double corrected_t_p(std::span<const double> differences, double ratio);

/// Returns half the width of the 95 % interval of the mean error over folds, with the same correction.
[[nodiscard]] double corrected_t_half_width(std::span<const double> errors, double ratio);

/// Returns Wilson's score interval (1927) of the proportion successes/samples. Throws Error{usage} for no samples.
[[nodiscard]] Interval wilson_interval(Index successes, Index samples);

/// Returns Holm's adjusted p-values (1979) of m tests, in the input order; they control the family-wise error rate
/// under any dependence of the tests. With p₍₁₎ ≤ … ≤ p₍ₘ₎ the j-th is max over i ≤ j of min(1, (m − i + 1)·p₍ᵢ₎).
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace widelimit
