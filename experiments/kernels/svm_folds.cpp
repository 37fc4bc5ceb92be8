#include "experiments/kernels/svm_folds.hpp"

#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/multiclass.hpp"
#include "widelimit/machine/part_task.hpp"

namespace widelimit::experiment {

FoldPredictions svm_predictions(const GramMatrix& k, std::span<const Index> labels, const SplitRows& fold,
                                const FoldMachines& machines, const Engine& engine) {
  const PresentClasses present = present_classes(chosen(labels, fold.train));
  const GramMatrix square = k.part(fold.train);
  const EngineMatrix rows = k.part(fold.test, fold.train);
  const SvmOptions options{
      .bias = true, .tolerance = machines.tolerance, .check_definite = false, .progress = machines.progress};
  FoldPredictions predictions;
  if (present.count() > 2) {
    const auto pairs = one_vs_one_machines(square, present.labels, present.count(), machines.lambdas, options);
    for (std::size_t l = 0; l < pairs.lambdas(); ++l) predictions.unsolved += pairs.summary(l).converged() ? 0 : 1;
    predictions.classes = vote(pairs, present.count(), rows, machines.rules, engine);
  } else {
    const Matrix<double> signs = class_targets(present.labels, 2);
    for (const Fit& fit : svm_path(square, {signs.data(), present.labels.size()}, machines.lambdas, options)) {
      predictions.unsolved += fit.summary.converged() ? 0 : 1;
      const std::vector<Index> predicted = classes_of(Scheme::sign, 2, decision(fit, rows, engine).view());
      predictions.classes.emplace_back(machines.rules.size(), predicted);
    }
  }
  for (auto& by_rule : predictions.classes) {
    for (std::vector<Index>& predicted : by_rule) {
      for (Index& one : predicted) one = present.classes[usize(one)];
    }
  }
  return predictions;
}

double accuracy(std::span<const Index> predicted, std::span<const Index> rows, std::span<const Index> labels) {
  Index correct = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) correct += predicted[i] == labels[usize(rows[i])] ? 1 : 0;
  return static_cast<double>(correct) / static_cast<double>(predicted.size());
}

}  // namespace widelimit::experiment
