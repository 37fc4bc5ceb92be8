#include "widelimit/analysis/dynamics/machine_limit.hpp"

#include "widelimit/machine/logistic/softmax.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/machine/svm/svr.hpp"

#include <algorithm>

namespace widelimit {

namespace {

struct LimitSettings {
  double lambda;
  double tolerance;
  Progress* progress;
};

Fit fit_labels(const GramMatrix& k, LossKind kind, const std::vector<double>& labels, const LimitSettings& settings) {
  if (kind == LossKind::logistic) {
    return fit_logistic(k, labels,
                        {.lambda = settings.lambda,
                         .weights = {},
                         .tolerance = settings.tolerance,
                         .check_definite = false,
                         .progress = settings.progress});
  }
  const SvmOptions options{.lambda = settings.lambda,
                           .weights = {},
                           .tolerance = settings.tolerance,
                           .check_definite = false,
                           .progress = settings.progress};
  return kind == LossKind::hinge ? fit_svm(k, labels, options) : fit_svm2(k, labels, options);
}

std::optional<Fit> fit_each_output(const GramMatrix& k, const DynamicsInput& input, const LimitSettings& settings) {
  Fit fit = zero_fit(input.samples, input.targets.cols);
  std::vector<Summary> parts;
  for (Index j = 0; j < input.targets.cols; ++j) {
    std::vector<double> labels;
    for (Index i = 0; i < input.samples; ++i) labels.push_back(input.targets(i, j));
    if (std::count(labels.begin(), labels.end(), labels.front()) == input.samples) return std::nullopt;
    const Fit one = fit_labels(k, input.loss.kind, labels, settings);
    for (Index i = 0; i < input.samples; ++i) fit.alpha(i, j) = one.alpha(i, 0);
    parts.push_back(one.summary);
  }
  fit.summary = combined(parts);
  return fit;
}

std::optional<Fit> fit_classes(const GramMatrix& k, const DynamicsInput& input, const LimitSettings& settings) {
  const Index classes = input.targets.cols;
  std::vector<Index> labels;
  std::vector<bool> present(static_cast<std::size_t>(classes));
  for (Index i = 0; i < input.samples; ++i) {
    const double* row = input.targets.row(i);
    labels.push_back(std::find(row, row + classes, 1.0) - row);
    present[static_cast<std::size_t>(labels.back())] = true;
  }
  if (classes < 2 || std::count(present.begin(), present.end(), false) > 0) return std::nullopt;
  return fit_softmax(k, labels, classes,
                     {.lambda = settings.lambda,
                      .weights = {},
                      .tolerance = settings.tolerance,
                      .check_definite = false,
                      .progress = settings.progress});
}

std::optional<Fit> fit_any(const GramMatrix& k, const DynamicsInput& input, const LimitSettings& settings) {
  switch (input.loss.kind) {
    case LossKind::squared:
      return fit_ridge(k, input.targets, {.lambda = settings.lambda, .progress = settings.progress});
    case LossKind::insensitive:
      return fit_svr(k, input.targets,
                     {.lambda = settings.lambda,
                      .epsilon = input.loss.epsilon,
                      .weights = {},
                      .tolerance = settings.tolerance,
                      .check_definite = false,
                      .progress = settings.progress});
    case LossKind::softmax:
      return fit_classes(k, input, settings);
    case LossKind::hinge:
    case LossKind::squared_hinge:
    case LossKind::logistic:
      break;
  }
  return fit_each_output(k, input, settings);
}

}  // namespace

std::optional<Fit> machine_limit(const GramMatrix& k, const DynamicsInput& input, double tolerance,
                                 Progress* progress) {
  if (input.lambda == 0) return std::nullopt;
  std::optional<Fit> fit = fit_any(k, input, {input.lambda, tolerance, progress});
  if (fit && !fit->summary.converged()) fit.reset();
  return fit;
}

Scheme loss_scheme(LossKind loss, Index classes) {
  if (loss == LossKind::softmax) return Scheme::softmax;
  if (classes == 2) return Scheme::sign;
  return has_margin(loss) ? Scheme::one_vs_rest : Scheme::one_hot;
}

}  // namespace widelimit
