#pragma once

#include "widelimit/analysis/comparison/candidates.hpp"
#include "widelimit/analysis/comparison/paired_tests.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/tune.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace widelimit {

struct CompareOptions {
  /// Folds, seed, machine and its progress. λ where there are none: 1e-6 to 100, a value for each decade, times the
  /// power of ten nearest to the mean diagonal of each kernel, since kernels differ in scale.
  TuneOptions tune;
  Index inner_folds = 5;  ///< of the choice within the training part of a fold; ridge leaves one out instead
  Precision precision = GramOptions{}.precision;
  std::optional<std::size_t> memory;  ///< bytes that a kernel may take; default: the available memory
};

/// One of the kernels that a candidate stands for, with the held-out errors of a machine at every λ.
struct TunedKernel {
  AnyKernel kernel;
  std::vector<TunePoint> points;  ///< by all training samples, as tune_classes and tune_values say
};

/// What a candidate chose on the training part of a fold, and what its machine says of the test part.
struct FoldChoice {
  std::size_t kernel = 0;  ///< place in ComparedKernel::tuned
  double lambda = 0;
  double error = 0;  ///< of the test part
  bool converged = true;
  Told told;  ///< of the test rows
};

/// One candidate, its choice and its errors. Errors are misclassification rates, weighted where samples or classes
/// have weights, or mean squared errors.
struct ComparedKernel {
  Candidate candidate;
  std::optional<Error> failure;  ///< why it has no result
  std::vector<TunedKernel> tuned;
  std::size_t chosen = 0;  ///< of `tuned`, by all training samples
  double lambda = 0;
  double tuned_error = 0;  ///< the least of those it was chosen by: it is too small, because it was chosen
  double error = 0;        ///< held-out error: the choice was made without the samples that it is measured on
  std::optional<Interval> interval;
  std::vector<FoldChoice> folds;
  std::optional<double> test_error;  ///< of the choice, fitted to all training samples
  std::optional<Interval> test_interval;
  /// That it is as good as the best, adjusted by Holm's method for all pairs of candidates; not of the best itself.
  std::optional<double> p;
  double kernel_seconds = 0;
  double fit_seconds = 0;
  double quadrature_error = 0;

  [[nodiscard]] const AnyKernel& kernel() const { return tuned[chosen].kernel; }
  /// p below 0.05 says that it is worse than the best.
  [[nodiscard]] bool tied() const { return !failure && p.value_or(1) >= 0.05; }
};

/// By which two candidates are compared.
enum class PairedTest : std::uint8_t {
  mcnemar,      ///< classes that all count the same: by the samples that one of both gets wrong
  paired_t,     ///< numbers, or weights: by the losses of samples
  corrected_t,  ///< samples that several folds test: by the errors of folds
  none,         ///< a single loss has no spread
};
/// "exact McNemar test", "paired t-test", "corrected resampled t-test", "none".
[[nodiscard]] std::string_view to_string(PairedTest test);

struct Comparison {
  std::vector<ComparedKernel> kernels;  ///< in the order of the candidates
  std::size_t best = 0;                 ///< the least held-out error; of equals the first
  PairedTest test = PairedTest::none;
  std::vector<SplitRows> folds;  ///< the same for all
  bool classes = true;
  std::vector<std::string> notes;  ///< what a reader of the results should know

  /// From the least error to the largest, then those without a result.
  [[nodiscard]] std::vector<std::size_t> order() const;
};

/// Samples that no choice depends on.
struct TestSamples {
  SampleView x;
  FitTargets targets;
};

/// Compares kernels by nested cross-validation (Stone 1974; Varma and Simon 2006): all candidates have the same folds,
/// and each chooses its kernel and its λ anew on the training part of every fold, ridge by exact leave-one-out, other
/// machines by inner folds. Its held-out error is then that of the whole procedure, not that of the best of a grid.
/// The choice that is reported is made once more by all training samples, as tune_classes and tune_values do.
///
/// Two candidates differ significantly where Holm's adjusted p of a paired test is below 0.05, adjusted for all pairs,
/// so that the best may be picked after the fact (PairedTest). Tests by samples take the machines of the folds as
/// given; they do not count what other training samples would change.
///
/// One Gram matrix is held at a time. A candidate that fails does not stop the others: it has a `failure`. Throws that
/// of the first where all fail. Error{usage} for no candidates, or two of one name; Error{input} for targets that are
/// not one number or label for each sample, and for folds that check_folds refuses.
[[nodiscard]] Comparison compare_kernels(const std::vector<Candidate>& candidates, const SampleView& x,
                                         const FitTargets& targets, const std::optional<TestSamples>& test,
                                         const CompareOptions& options, const Engine& engine);

}  // namespace widelimit
