#include "experiments/kernels/cntk_machines.hpp"

#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"
#include "widelimit/machine/tune.hpp"

#include <algorithm>

namespace widelimit::experiment {

namespace {

/// Images used to select λ; the reduction for a path costs eight times a factorisation.
constexpr Index choosing_images = 2000;

/// The first images of a kernel with their labels.
struct Task {
  GramMatrix k;
  AnyView k_test;
  std::span<const Index> labels;
  std::span<const Index> test_labels;
  Index classes;
};

ImagePredictions predict(const Setting& setting, const Task& task, Scheme scheme, const Fit& fit, double lambda) {
  const Matrix<double> g = decision(fit, task.k_test, setting.engine);
  ImagePredictions result = image_predictions(fit, scheme, task.classes, g.view(), task.test_labels);
  result.lambda = lambda;
  return result;
}

std::vector<double> lambda_grid(const GramMatrix& k) {
  std::vector<double> lambdas = logarithmic_grid(1e-6, 10, 15);
  for (double& lambda : lambdas) lambda *= k.mean_diagonal();
  return lambdas;
}

/// Returns the λ of minimal leave-one-out error; without a solution the largest, whose summary gives the reason.
double ridge_lambda(const Setting& setting, const GramMatrix& chosen, MatrixView<const double> targets) {
  const std::vector<double> lambdas = lambda_grid(chosen);
  const RidgePath path =
      ridge_path(chosen, targets.block(0, 0, chosen.samples(), targets.cols), lambdas, {.progress = setting.progress});
  return lambdas[usize(path.best_classifier().value_or(std::ssize(lambdas) - 1))];
}

double svm_lambda(const Setting& setting, const GramMatrix& chosen, const Task& task, const MachineOptions& machine) {
  const TuneOptions tuning{.machine = machine, .lambdas = lambda_grid(chosen), .seed = setting.seed};
  const auto points = tune_classes(chosen, task.labels.first(usize(chosen.samples())), task.classes, tuning);
  return points[best_point(points).value_or(points.size() - 1)].lambda;
}

}  // namespace

Matrix<double> cntk_targets(std::span<const Index> labels, Index classes) {
  Matrix<double> targets(std::ssize(labels), classes);
  for (Index i = 0; i < targets.rows(); ++i) {
    for (Index c = 0; c < classes; ++c) targets(i, c) = labels[usize(i)] == c ? 0.9 : -0.1;
  }
  return targets;
}

CntkMachines cntk_machines(const Setting& setting, const CifarImages& images, const TaskKernel& kernel, Index train,
                           Index test) {
  const Task task{.k = GramMatrix(corner(kernel.k, train, train), setting.engine),
                  .k_test = corner(kernel.k_test, test, train),
                  .labels = std::span(images.train.labels).first(usize(train)),
                  .test_labels = std::span(images.test.labels).first(usize(test)),
                  .classes = images.classes()};
  const Index few = std::min(choosing_images, train);
  const GramMatrix chosen(corner(kernel.k, few, few), setting.engine);
  const Matrix<double> targets = cntk_targets(task.labels, task.classes);
  CntkMachines result;
  result.regression = predict(setting, task, Scheme::one_hot,
                              fit_regression(task.k, targets.view(), RidgeOptions{.progress = setting.progress}), 0);
  const double ridge = ridge_lambda(setting, chosen, targets.view());
  result.ridge =
      predict(setting, task, Scheme::one_hot,
              fit_ridge(task.k, targets.view(), RidgeOptions{.lambda = ridge, .progress = setting.progress}), ridge);
  // Kernels of ReLU networks are positive semi-definite by construction.
  MachineOptions svm{.machine = Machine::svm, .check_definite = false, .progress = setting.progress};
  svm.lambda = svm_lambda(setting, chosen, task, svm);
  const FittedMachine fitted = train_classes(task.k, task.labels, task.classes, svm);
  result.svm = predict(setting, task, fitted.scheme, fitted.fit, svm.lambda);
  return result;
}

}  // namespace widelimit::experiment
