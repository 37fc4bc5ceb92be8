#include "widelimit/machine/tune.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/folds.hpp"
#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/part_task.hpp"
#include "widelimit/machine/ridge/prediction_error.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace widelimit {

namespace {

void check(const GramMatrix& k, Index samples, std::span<const Index> labels, const TuneOptions& options) {
  if (k.samples() != samples) fail(Code::input, "K has {} rows for {} samples", k.samples(), samples);
  check_pair_functions(options.label_aware, options.pair_features);
  if (options.label_aware) options.label_aware->validate();
  if (options.lambdas.empty()) fail(Code::input, "there is no λ; give at least one");
  for (const double lambda : options.lambdas) {
    if (!std::isfinite(lambda) || lambda <= 0) fail(Code::input, "λ = {} is not a positive number", lambda);
  }
  if (!options.given_folds.empty()) {
    (void)check_folds(options.given_folds, samples, labels);
  } else if (options.folds < 2 || options.folds > samples) {
    fail(Code::input, "{} folds of {} samples; choose between 2 and the number of samples", options.folds, samples);
  }
}

/// Whether the machine has no λ.
bool without_lambda(Machine machine) { return machine == Machine::regression || machine == Machine::hard_svm; }

std::vector<double> lambdas_of(const TuneOptions& options) {
  return without_lambda(options.machine.machine) ? std::vector<double>{options.lambdas.front()} : options.lambdas;
}

/// Returns the predictions on the training samples without a product with K: Kα + b = y − λ/2·α/w, since
/// (K + λ/2·W⁻¹)α = y − b. Weights must be positive. [docs/theory/machines.md]
Matrix<double> fitted_by_ridge(MatrixView<const double> targets, const RidgePoint& point,
                               std::span<const double> weights) {
  Matrix<double> g(targets.rows, targets.cols, Content::unset);
  for (Index i = 0; i < g.rows(); ++i) {
    const double half = point.lambda / 2 / factor_at(weights, i);
    for (Index j = 0; j < g.cols(); ++j) g(i, j) = targets(i, j) - half * point.fit.alpha(i, j);
  }
  return g;
}

std::vector<TunePoint> ridge_points(const GramMatrix& k, MatrixView<const double> targets,
                                    std::span<const double> weights, const TuneOptions& options) {
  const RidgePath path =
      ridge_path(k, targets, options.lambdas,
                 {.bias = options.machine.bias, .weights = weights, .progress = options.machine.progress});
  const bool positive = std::find(weights.begin(), weights.end(), 0.0) == weights.end();
  std::vector<TunePoint> points;
  for (const RidgePoint& point : path.points) {
    points.push_back({point.lambda, point.loo_misclassified, point.loo_error, point.fit.summary.converged() ? 0 : 1,
                      point.fit.summary.converged() ? std::string() : point.fit.summary.message});
    if (!point.loo_error || !positive) continue;
    const Matrix<double> g = fitted_by_ridge(targets, point, weights);
    points.back().training_misclassified = misclassified(targets, g.view(), weights);
    points.back().training_squared_error = mean_squared_error(targets, g.view(), weights);
  }
  return points;
}

/// Returns points without a solution; `message` gives the reason.
std::vector<TunePoint> unsolved_points(const TuneOptions& options, const std::string& message) {
  std::vector<TunePoint> points;
  for (const double lambda : lambdas_of(options)) {
    points.push_back({.lambda = lambda, .unsolved = options.fold_count(), .message = message});
  }
  return points;
}

/// Returns why no fold can be fitted, if K is not positive semi-definite. Principal submatrices of a semi-definite
/// matrix are semi-definite, so one test covers all folds.
std::optional<std::string> indefinite(const GramMatrix& k, const MachineOptions& machine) {
  if (!machine.check_definite || machine.machine == Machine::regression) return std::nullopt;
  k.check();
  if (is_semidefinite(k, machine.progress)) return std::nullopt;
  return diagonal_shift_advice(k, machine.progress);
}

/// Returns the sum of the weights of some samples; empty weights mean 1.
double sum_of_weights(std::span<const double> weights, std::span<const Index> samples) {
  if (weights.empty()) return static_cast<double>(samples.size());
  return std::accumulate(samples.begin(), samples.end(), 0.0,
                         [&](double sum, Index i) { return sum + weights[usize(i)]; });
}

/// Kernels of a fold.
struct FoldKernels {
  GramMatrix square;
  EngineMatrix rectangle;  ///< held-out × training samples
  double shift = 0;        ///< shift of the diagonal of `square`, excluded from decisions

  /// Returns the decisions of a machine on its training samples.
  [[nodiscard]] Matrix<double> fitted(const Fit& fit) const {
    Matrix<double> g = decision(fit, square.matrix(), square.engine());
    for (Index i = 0; shift != 0 && i < g.rows(); ++i) {
      for (Index j = 0; j < g.cols(); ++j) g(i, j) -= shift * fit.alpha(i, j);
    }
    return g;
  }
};

/// Returns rows and columns of K; with a label-aware kernel, built from the labels of the training samples of the fold.
FoldKernels fold_kernels(const GramMatrix& k, const SplitRows& fold, std::span<const Index> labels,
                         const TuneOptions& options) {
  EngineMatrix rectangle = k.algebra().gather(k.matrix(), fold.test, fold.train);
  if (!options.label_aware) return {k.part(fold.train), std::move(rectangle)};
  EngineMatrix square = k.algebra().gather(k.matrix(), fold.train, fold.train);
  PairSources sources{.own = options.pair_features};
  AnySamples train, test;
  if (options.samples) {
    train = gather(*options.samples, fold.train);
    test = gather(*options.samples, fold.test);
    sources.train = SampleView(train, options.samples->shape);
    sources.test = SampleView(test, options.samples->shape);
  }
  const std::vector<Index> known = chosen(labels, fold.train);
  const LabelAwareKernels made =
      make_label_aware(square, &rectangle, sources, known, *std::max_element(known.begin(), known.end()) + 1,
                       *options.label_aware, k.engine(), options.machine.progress);
  return {GramMatrix(std::move(square), k.engine()), std::move(rectangle), made.repair.shift};
}

/// Computes the points by cross-validation. Each sample contributes its weight divided by the sum of all weights or,
/// with given folds, by that of its fold. `weights` are the sample weights in errors, including class weights.
std::vector<TunePoint> by_folds(const GramMatrix& k, const SampleTargets& truth, std::span<const double> weights,
                                const TuneOptions& options) {
  std::vector<TunePoint> points;
  for (const double lambda : lambdas_of(options)) points.push_back({.lambda = lambda});
  const std::vector<SplitRows> folds = tune_folds(truth, options);
  const bool given = !options.given_folds.empty();
  const auto count = static_cast<double>(folds.size());
  double all = 0;
  for (const SplitRows& fold : folds) all += sum_of_weights(weights, fold.test);
  MachineOptions machine = options.machine;
  machine.check_definite = options.label_aware && options.label_aware->psd == Psd::none;
  machine.indefinite = machine.check_definite;
  for (const SplitRows& fold : folds) {
    const double trained = sum_of_weights(weights, fold.train);
    const double tested = given ? sum_of_weights(weights, fold.test) * count : all;
    const PartTask task(truth, fold.train, machine);
    const FoldKernels kernels = fold_kernels(k, fold, truth.labels, options);
    for (TunePoint& point : points) {
      const FittedMachine fitted = task.fit(kernels.square, point.lambda);
      const auto missed = [&](const Matrix<double>& decisions, std::span<const Index> which) {
        return sum_of_errors(truth, task.predict(fitted, decisions), which, weights);
      };
      auto& total = truth.classes() ? point.misclassified : point.squared_error;
      total = total.value_or(0) + missed(decision(fitted.fit, kernels.rectangle, k.engine()), fold.test) / tested;
      auto& training = truth.classes() ? point.training_misclassified : point.training_squared_error;
      training = training.value_or(0) + missed(kernels.fitted(fitted.fit), fold.train) / (trained * count);
      const Summary& summary = fitted.fit.summary;
      point.unsolved += summary.converged() ? 0 : 1;
      if (!summary.converged() && point.message.empty()) point.message = summary.message;
    }
  }
  for (TunePoint& point : points) {
    if (point.unsolved == options.fold_count()) {
      point = {.lambda = point.lambda, .unsolved = point.unsolved, .message = point.message};
    }
  }
  return points;
}

}  // namespace

std::vector<SplitRows> tune_folds(const SampleTargets& truth, const TuneOptions& options) {
  if (!options.given_folds.empty()) return options.given_folds;
  if (truth.classes()) return draw_folds(truth.labels, options.folds, options.seed);
  return draw_folds(std::vector<Index>(truth.targets.size(), 0), options.folds, options.seed);
}

std::vector<TunePoint> tune_classes(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                    const TuneOptions& options) {
  check(k, std::ssize(labels), labels, options);
  const std::vector<double> weights = sample_weights(options.machine, labels, classes);
  check_weights(weights, std::ssize(labels));
  const bool given = !options.given_folds.empty();
  if (options.machine.machine == Machine::ridge && !given && !options.label_aware) {
    return ridge_points(k, class_targets(labels, classes).view(), weights, options);
  }
  for (Index c = 0; c < classes && !given; ++c) {
    const auto count = std::count(labels.begin(), labels.end(), c);
    if (count < 2)
      fail(Code::input, "one of {} classes has {} samples; folds need at least two of each", classes, count);
  }
  if (const auto reason = indefinite(k, options.machine)) return unsolved_points(options, *reason);
  return by_folds(k, {.labels = labels, .targets = {}}, weights, options);
}

std::vector<TunePoint> tune_values(const GramMatrix& k, std::span<const double> targets, const TuneOptions& options) {
  const Index n = std::ssize(targets);
  check(k, n, {}, options);
  if (!options.machine.class_weights.empty()) {
    fail(Code::usage, "weights of classes need classes; these targets are numbers");
  }
  if (options.label_aware) fail(Code::usage, "a label-aware kernel needs classes; these targets are numbers");
  check_weights(options.machine.weights, n);
  if (options.machine.machine == Machine::ridge && options.given_folds.empty()) {
    return ridge_points(k, {targets.data(), n, 1, 1}, options.machine.weights, options);
  }
  if (const auto reason = indefinite(k, options.machine)) return unsolved_points(options, *reason);
  return by_folds(k, {.labels = {}, .targets = targets}, options.machine.weights, options);
}

std::optional<std::size_t> best_point(std::span<const TunePoint> points) {
  std::optional<std::size_t> best;
  const auto key = [&](std::size_t i) {
    return std::tuple(*points[i].error(), points[i].squared_error.value_or(0), -points[i].lambda);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].error() && (!best || key(i) < key(*best))) best = i;
  }
  return best;
}

std::vector<double> logarithmic_grid(double first, double last, Index count) {
  if (!(first > 0) || !(last > 0) || !std::isfinite(first) || !std::isfinite(last) || count < 1) {
    fail(Code::input, "a grid of {} values from {} to {}: the ends must be positive", count, first, last);
  }
  std::vector<double> grid;
  for (Index i = 0; i < count; ++i) {
    const double share = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    grid.push_back(std::exp((1 - share) * std::log(first) + share * std::log(last)));
  }
  return grid;
}

std::vector<double> usual_lambdas() { return logarithmic_grid(1e-4, 1e2, 13); }

}  // namespace widelimit
