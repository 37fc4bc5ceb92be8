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
  /// Folds, seed, machine and progress. If λ is empty, the grid is 1e-6 to 100, one value per decade, times the power
  /// of ten nearest to the mean diagonal of each kernel, since kernels differ in scale.
  TuneOptions tune;
  Index inner_folds = 5;  ///< inner folds for model selection; ridge uses leave-one-out instead
  Precision precision = GramOptions{}.precision;
  std::optional<std::size_t> memory;  ///< memory limit in bytes for one kernel; default: the available memory
};

/// One kernel of a candidate, with the held-out error for each λ.
struct TunedKernel {
  AnyKernel kernel;
  std::vector<TunePoint> points;  ///< on all training samples, see tune_classes and tune_values
};

/// Selection of a candidate on the training part of a fold, and its predictions on the test part.
struct FoldChoice {
  std::size_t kernel = 0;  ///< index into ComparedKernel::tuned
  double lambda = 0;
  double error = 0;  ///< error on the test part
  bool converged = true;
  MachinePredictions predictions;  ///< predictions on the test rows
};

/// One candidate, its selected kernel and its errors. Errors are misclassification rates, weighted if samples or
/// classes have weights, or mean squared errors.
struct ComparedKernel {
  Candidate candidate;
  std::optional<Error> failure;  ///< set if there is no result
  std::vector<TunedKernel> tuned;
  std::size_t chosen = 0;  ///< index into `tuned`, selected on all training samples
  double lambda = 0;
  double tuned_error = 0;  ///< smallest tuning error; optimistically biased by the selection
  double error = 0;        ///< nested cross-validation error: the test samples do not influence the selection
  std::optional<Interval> interval;
  std::vector<FoldChoice> folds;
  std::optional<double> test_error;  ///< of the selected kernel, fitted to all training samples
  std::optional<Interval> test_interval;
  /// Holm-adjusted p-value, over all pairs of candidates, of the hypothesis that the candidate is as good as the best
  /// one; empty for the best one.
  std::optional<double> p;
  double kernel_seconds = 0;
  double fit_seconds = 0;
  double quadrature_error = 0;

  [[nodiscard]] const AnyKernel& kernel() const { return tuned[chosen].kernel; }
  /// Returns whether the candidate is not significantly worse than the best one (p ≥ 0.05).
  [[nodiscard]] bool tied() const { return !failure && p.value_or(1) >= 0.05; }
};

/// Test that compares two candidates.
enum class PairedTest : std::uint8_t {
  mcnemar,      ///< unweighted classification: uses the samples that exactly one of the two classifies correctly
  paired_t,     ///< regression, or weights: uses the losses per sample
  corrected_t,  ///< overlapping test parts: uses the errors per fold
  none,         ///< a single loss has no variance
};
/// Returns "exact McNemar test", "paired t-test", "corrected resampled t-test" or "none".
[[nodiscard]] std::string_view to_string(PairedTest test);

struct Comparison {
  std::vector<ComparedKernel> kernels;  ///< in the order of the candidates
  std::size_t best = 0;                 ///< index of the smallest held-out error; the first of equals
  PairedTest test = PairedTest::none;
  std::vector<SplitRows> folds;  ///< common to all candidates
  bool classes = true;
  std::vector<std::string> notes;  ///< remarks on the results

  /// Returns indices by increasing error, then the candidates without a result.
  [[nodiscard]] std::vector<std::size_t> order() const;
};

/// Test samples, not used for any selection.
struct TestSamples {
  SampleView x;
  FitTargets targets;
};

/// Compares kernels by nested cross-validation (Stone 1974; Varma and Simon 2006): all candidates share the outer
/// folds, and each selects its kernel and λ separately on the training part of every fold, ridge by exact
/// leave-one-out, other machines by inner folds. The held-out error is thus that of the whole procedure, without
/// selection bias. The reported kernel and λ are selected once more on all training samples, as in tune_classes and
/// tune_values.
///
/// Two candidates differ significantly if the Holm-adjusted p-value of a paired test (PairedTest) is below 0.05;
/// adjusting over all pairs permits the post-hoc choice of the best. Tests per sample condition on the fitted machines;
/// they ignore the variance due to the training samples.
///
/// One Gram matrix is in memory at a time. A candidate that fails gets a `failure` and the others continue; if all
/// fail, the first failure is thrown. Throws Error{usage} for no candidates or duplicate names; Error{input} unless
/// there is one label or number per sample, and for folds that check_folds rejects.
[[nodiscard]] Comparison compare_kernels(const std::vector<Candidate>& candidates, const SampleView& x,
                                         const FitTargets& targets, const std::optional<TestSamples>& test,
                                         const CompareOptions& options, const Engine& engine);

}  // namespace widelimit
