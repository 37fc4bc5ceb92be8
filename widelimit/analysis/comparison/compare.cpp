#include "widelimit/analysis/comparison/compare.hpp"

#include "widelimit/analysis/comparison/candidate_evaluator.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/data/labels/folds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numeric>

namespace widelimit {

namespace {

/// Outer fold with its learning task and inner folds.
struct OuterFold {
  SplitRows rows;
  PartTask task;
  std::vector<SplitRows> inner;  ///< indices into rows.train; empty for leave-one-out
};

SampleTargets sample_targets(const FitTargets& y) {
  if (!y.labels.empty()) return {.labels = y.labels, .targets = {}};
  if (y.values.cols != 1 || y.values.stride != 1) {
    fail(Code::input, "kernel comparison needs one label or number per sample, not {}", y.values.cols);
  }
  return {.labels = {}, .targets = {y.values.data, usize(y.values.rows)}};
}

std::vector<Index> all_rows(Index count) {
  std::vector<Index> rows(usize(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

std::vector<SplitRows> inner_folds(const PartTask& task, const CompareOptions& options) {
  if (options.tune.machine.machine == Machine::ridge) return {};
  const SampleTargets truth{.labels = task.present().labels, .targets = task.targets()};
  std::vector<SplitRows> folds =
      tune_folds(truth, {.machine = {}, .lambdas = {}, .folds = options.inner_folds, .seed = options.tune.seed});
  (void)check_folds(folds, truth.samples(), truth.labels);
  return folds;
}

/// Returns the default λ grid: powers of ten around the mean diagonal of the kernel.
std::vector<double> lambdas_for(const GramMatrix& k) {
  const double diagonal = k.mean_diagonal();
  const double unit = std::isfinite(diagonal) && diagonal > 0 ? std::round(std::log10(diagonal)) : 0.0;
  std::vector<double> lambdas;
  for (int decade = -6; decade <= 2; ++decade) lambdas.push_back(std::pow(10.0, unit + decade));
  return lambdas;
}

/// Best grid point and its kernel.
struct Choice {
  std::size_t kernel = 0;
  TunePoint point;
};

/// Replaces `before` if the best of the points is better by the rule of best_point; returns whether it did.
bool improve(std::optional<Choice>& before, std::size_t kernel, std::span<const TunePoint> points) {
  const auto best = best_point(points);
  if (!best) return false;
  if (before && best_point(std::array{before->point, points[*best]}) != std::size_t{1}) return false;
  before = {kernel, points[*best]};
  return true;
}

/// State shared by all candidates: samples, targets, folds.
class ComparisonSetting {
 public:
  ComparisonSetting(const SampleView& x, const FitTargets& targets, const std::optional<TestSamples>& test,
                    const CompareOptions& options, const Engine& engine)
      : x_(x),
        truth_(sample_targets(targets)),
        classes_(targets.classes),
        test_(test),
        options_(options),
        engine_(engine) {
    if (truth_.samples() != x.count()) {
      fail(Code::input, "there are {} labels or numbers for {} samples", truth_.samples(), x.count());
    }
    rows_ = tune_folds(truth_, options.tune);
    notes_ = check_folds(rows_, x.count(), truth_.labels);
    for (const SplitRows& rows : rows_) {
      PartTask task(truth_, rows.train, checked_machine());
      std::vector<SplitRows> inner = inner_folds(task, options);
      folds_.push_back({rows, std::move(task), std::move(inner)});
    }
  }

  [[nodiscard]] const SampleView& samples() const { return x_; }
  [[nodiscard]] const SampleTargets& truth() const { return truth_; }
  [[nodiscard]] const std::vector<SplitRows>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<OuterFold>& folds() const { return folds_; }
  [[nodiscard]] const CompareOptions& options() const { return options_; }
  /// Notes on the folds.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// Sample weights in the errors, as in tune_classes and tune_values.
  [[nodiscard]] std::vector<double> weights() const {
    const MachineOptions& machine = options_.tune.machine;
    if (truth_.classes()) return sample_weights(machine, truth_.labels, classes_);
    return {machine.weights.begin(), machine.weights.end()};
  }

  [[nodiscard]] KernelResult kernel(const AnyKernel& kernel, Kind kind) const {
    KernelRequest request{.kernel = kernel, .kind = kind, .precision = options_.precision};
    request.method = Method::exact;
    request.memory = options_.memory;
    request.progress = options_.tune.machine.progress;
    return compute_kernel(request, x_, test_ ? std::optional(test_->x) : std::nullopt, engine_);
  }

  [[nodiscard]] GramMatrix gram(const KernelResult& result) const {
    return {view_of(result.matrices.front().values), engine_};
  }

  /// Computes held-out errors on all training samples.
  [[nodiscard]] std::vector<TunePoint> tune(const GramMatrix& k, const TuneOptions& options) const {
    if (truth_.classes()) return tune_classes(k, truth_.labels, classes_, options);
    return tune_values(k, truth_.targets, options);
  }

  /// Same on the training part of a fold with Gram matrix `square`.
  [[nodiscard]] std::vector<TunePoint> tune(const OuterFold& fold, const GramMatrix& square,
                                            TuneOptions options) const {
    options.machine = fold.task.machine(options.machine.lambda);
    options.given_folds = fold.inner;
    const PresentClasses& present = fold.task.present();
    if (truth_.classes()) return tune_classes(square, present.labels, present.count(), options);
    return tune_values(square, fold.task.targets(), options);
  }

  /// Fits the chosen machine on the training part of a fold and predicts the test part.
  [[nodiscard]] FoldChoice test_choice(const OuterFold& fold, const GramMatrix& k, const GramMatrix& square,
                                       const Choice& choice) const {
    const FittedMachine fitted = fold.task.fit(square, choice.point.lambda);
    const EngineMatrix rows = k.algebra().gather(k.matrix(), fold.rows.test, fold.rows.train);
    return {.kernel = choice.kernel,
            .lambda = choice.point.lambda,
            .converged = fitted.fit.summary.converged(),
            .predictions = fold.task.predict(fitted, decision(fitted.fit, rows, engine_))};
  }

  /// Sets the unweighted error on the test samples of the machine fitted to all training samples.
  void add_test_error(ComparedKernel& row, const KernelResult& result, double lambda) const {
    if (!test_) return;
    const PartTask task(truth_, all_rows(x_.count()), checked_machine());
    const FittedMachine fitted = task.fit(gram(result), lambda);
    const AnyView test_by_train = view_of(result.matrices.back().values);
    const MachinePredictions predictions = task.predict(fitted, decision(fitted.fit, test_by_train, engine_));
    const SampleTargets truth = sample_targets(test_->targets);
    const double errors = sum_of_errors(truth, predictions, all_rows(truth.samples()), {});
    row.test_error = errors / static_cast<double>(truth.samples());
    if (truth.classes()) row.test_interval = wilson_interval(std::llround(errors), truth.samples());
  }

 private:
  /// Skips the definiteness check: tune() has checked the whole matrix, and principal submatrices inherit it.
  [[nodiscard]] MachineOptions checked_machine() const {
    MachineOptions machine = options_.tune.machine;
    machine.check_definite = false;
    return machine;
  }

  SampleView x_;
  SampleTargets truth_;
  Index classes_;
  std::optional<TestSamples> test_;
  CompareOptions options_;
  const Engine& engine_;
  std::vector<SplitRows> rows_;
  std::vector<OuterFold> folds_;
  std::vector<std::string> notes_;
};

/// Evaluates one candidate on all folds, one kernel of its family at a time, so that only one Gram matrix is in memory.
class Run {
 public:
  Run(const ComparisonSetting& setting, Candidate candidate) : setting_(setting), in_folds_(setting.folds().size()) {
    row_.candidate = std::move(candidate);
    row_.folds.resize(setting.folds().size());
  }

  [[nodiscard]] ComparedKernel row(std::vector<std::string>& notes) && {
    const auto start = Clock::now();
    try {
      const std::vector<AnyKernel> kernels = kernels_of(row_.candidate, setting_.samples());
      for (const AnyKernel& kernel : kernels) try_kernel(kernel, kernels.size() == 1);
      finish(notes);
    } catch (const Error& error) {
      if (error.code() == Code::interrupted) throw;
      row_.failure = error;
    } catch (const std::bad_alloc&) {
      row_.failure = Error(Code::resource, "not enough memory", {Remedy::fewer_samples, Remedy::single_precision});
    }
    if (row_.failure) row_ = {.candidate = std::move(row_.candidate), .failure = row_.failure};
    row_.fit_seconds = seconds_since(start) - row_.kernel_seconds;
    return std::move(row_);
  }

 private:
  /// A failing kernel does not stop the others of its family.
  void try_kernel(const AnyKernel& kernel, bool alone) {
    try {
      add_kernel(kernel, alone);
    } catch (const Error& error) {
      if (error.code() == Code::interrupted || alone) throw;
      failures_.push_back(
          Error(error.code(), fmt::format("{}: {}", kernel_text(kernel), error.what()), error.remedies()));
    }
  }

  void add_kernel(const AnyKernel& kernel, bool alone) {
    const KernelResult result = setting_.kernel(kernel, row_.candidate.kind);
    row_.kernel_seconds += result.seconds;
    row_.quadrature_error = std::max(row_.quadrature_error, result.quadrature_error);
    const GramMatrix k = setting_.gram(result);
    TuneOptions options = setting_.options().tune;
    options.machine.check_definite = !result.semidefinite;
    if (options.lambdas.empty()) options.lambdas = lambdas_for(k);
    const std::size_t place = row_.tuned.size();
    row_.tuned.push_back({kernel, setting_.tune(k, options)});
    const std::vector<TunePoint>& points = row_.tuned.back().points;
    if (!best_point(points)) {
      if (message_.empty()) message_ = points.front().message;
      return;
    }
    if (improve(whole_, place, points)) setting_.add_test_error(row_, result, whole_->point.lambda);
    for (std::size_t f = 0; f < in_folds_.size(); ++f) {
      stop_if_requested(options.machine.progress);
      const OuterFold& fold = setting_.folds()[f];
      const GramMatrix square = k.part(fold.rows.train);
      // A single kernel with a single λ needs no selection.
      const std::vector<TunePoint> within =
          alone && points.size() == 1
              ? std::vector<TunePoint>{{.lambda = points.front().lambda, .misclassified = 0.0, .squared_error = 0.0}}
              : setting_.tune(fold, square, options);
      if (improve(in_folds_[f], place, within)) row_.folds[f] = setting_.test_choice(fold, k, square, *in_folds_[f]);
    }
  }

  void finish(std::vector<std::string>& notes) {
    if (!whole_ && !failures_.empty()) throw Error(failures_.front());
    for (std::size_t f = 0; f < in_folds_.size(); ++f) {
      if (whole_ && in_folds_[f]) continue;
      fail(Code::numerical, "no fit succeeded{}{}{}; try larger λ", whole_ ? fmt::format(" on fold {}", f + 1) : "",
           message_.empty() ? "" : ": ", message_);
    }
    row_.chosen = whole_->kernel;
    row_.lambda = whole_->point.lambda;
    row_.tuned_error = *whole_->point.error();
    add_notes(notes);
  }

  void add_notes(std::vector<std::string>& notes) const {
    const std::string& name = row_.candidate.name;
    for (const Error& error : failures_) notes.push_back(fmt::format("{}: skipped {}", name, error.what()));
    const Index unsolved =
        std::count_if(row_.folds.begin(), row_.folds.end(), [](const FoldChoice& fold) { return !fold.converged; });
    if (unsolved > 0) {
      notes.push_back(
          fmt::format("{}: on {} of {} folds the chosen machine did not converge", name, unsolved, row_.folds.size()));
    }
  }

  const ComparisonSetting& setting_;
  ComparedKernel row_;
  std::optional<Choice> whole_;                  ///< on all training samples
  std::vector<std::optional<Choice>> in_folds_;  ///< on the training part of each fold
  std::vector<Error> failures_;                  ///< of the kernels of the family
  std::string message_;                          ///< of the first kernel without a valid fit
};

void check_names(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) fail(Code::usage, "there is no kernel to compare");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (candidates[i].name == candidates[j].name)
        fail(Code::usage, "kernel '{}' is listed twice", candidates[i].name);
    }
  }
}

/// Adds notes for candidates whose λ is at an end of the grid.
void add_edge_notes(Comparison& comparison) {
  std::vector<std::string> low, high;
  for (const ComparedKernel& row : comparison.kernels) {
    if (row.failure || row.tuned[row.chosen].points.size() < 2) continue;
    const std::vector<TunePoint>& points = row.tuned[row.chosen].points;
    const auto [least, most] = std::minmax_element(
        points.begin(), points.end(), [](const TunePoint& a, const TunePoint& b) { return a.lambda < b.lambda; });
    const std::string text = fmt::format("{} ({:.3g})", row.candidate.name, row.lambda);
    if (row.lambda == least->lambda) low.push_back(text);
    if (row.lambda == most->lambda) high.push_back(text);
  }
  const auto add = [&](const std::vector<std::string>& names, const char* end, const char* further) {
    if (names.empty()) return;
    comparison.notes.push_back(fmt::format("the selected λ is the {} of the grid for {}; try {} values", end,
                                           fmt::join(names, ", "), further));
  };
  add(low, "smallest", "smaller");
  add(high, "largest", "larger");
}

/// Sets p of each candidate against the best one. Holm's method adjusts over all pairs, since the best one is selected
/// afterwards.
void add_p(Comparison& comparison, const CandidateEvaluator& evaluator) {
  if (evaluator.paired_test() == PairedTest::none) return;
  std::vector<double> p;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<ComparedKernel>& kernels = comparison.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kernels[i].failure || kernels[j].failure) continue;
      pairs.emplace_back(i, j);
      p.push_back(evaluator.p_of(kernels[i], kernels[j]));
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = pairs[k];
    if (i == comparison.best) kernels[j].p = adjusted[k];
    if (j == comparison.best) kernels[i].p = adjusted[k];
  }
}

}  // namespace

std::vector<std::size_t> Comparison::order() const {
  std::vector<std::size_t> places(kernels.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(kernels[a].failure.has_value(), kernels[a].error) <
           std::pair(kernels[b].failure.has_value(), kernels[b].error);
  });
  return places;
}

Comparison compare_kernels(const std::vector<Candidate>& candidates, const SampleView& x, const FitTargets& targets,
                           const std::optional<TestSamples>& test, const CompareOptions& requested,
                           const Engine& engine) {
  check_names(candidates);
  SharedProgress progress(requested.tune.machine.progress, std::ssize(candidates), "kernels");
  CompareOptions options = requested;
  options.tune.machine.progress = progress.get();
  const ComparisonSetting setting(x, targets, test, options, engine);
  const CandidateEvaluator evaluator(setting.truth(), setting.rows(), setting.weights());
  Comparison comparison{.test = evaluator.paired_test(),
                        .folds = setting.rows(),
                        .classes = setting.truth().classes(),
                        .notes = setting.notes()};
  for (const Candidate& candidate : candidates) {
    ComparedKernel row = Run(setting, candidate).row(comparison.notes);
    if (!row.failure) evaluator.evaluate(row);
    comparison.kernels.push_back(std::move(row));
    progress.at(std::ssize(comparison.kernels));
  }
  comparison.best = comparison.order().front();
  if (const auto& failure = comparison.kernels[comparison.best].failure) {
    throw Error(failure->code(),
                fmt::format("no kernel has a result; {}: {}", candidates.front().name, failure->what()),
                failure->remedies());
  }
  add_p(comparison, evaluator);
  add_edge_notes(comparison);
  return comparison;
}

}  // namespace widelimit
