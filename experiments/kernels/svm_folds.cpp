#include "experiments/kernels/svm_folds.hpp"

#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/multiclass.hpp"
#include "widelimit/machine/present_classes.hpp"

namespace widelimit::experiment {

namespace {

std::vector<Fit> fits(const GramMatrix& square, const PresentClasses& present, const FoldMachines& machines) {
  const SvmOptions options{
      .bias = true, .tolerance = machines.tolerance, .check_definite = false, .progress = machines.progress};
  if (present.count() > 2) return one_vs_one_path(square, present.labels, present.count(), machines.lambdas, options);
  const Matrix<double> signs = class_targets(present.labels, 2);
  return svm_path(square, {signs.data(), present.labels.size()}, machines.lambdas, options);
}

}  // namespace

FoldAnswers svm_answers(const GramMatrix& k, std::span<const Index> labels, const SplitRows& fold,
                        const FoldMachines& machines, const Engine& engine) {
  const PresentClasses present = present_classes(chosen(labels, fold.train));
  const GramMatrix square = k.part(fold.train);
  const EngineMatrix rows = k.algebra().gather(k.matrix(), fold.test, fold.train);
  FoldAnswers answers;
  for (const Fit& fit : fits(square, present, machines)) {
    answers.unsolved += fit.summary.converged() ? 0 : 1;
    const Matrix<double> g = decision(fit, rows, engine);
    answers.classes.emplace_back();
    for (const Scheme rule : machines.rules) {
      std::vector<Index> told = classes_of(present.count() == 2 ? Scheme::sign : rule, present.count(), g.view());
      for (Index& one : told) one = present.classes[usize(one)];
      answers.classes.back().push_back(std::move(told));
    }
  }
  return answers;
}

double accuracy(std::span<const Index> told, std::span<const Index> rows, std::span<const Index> labels) {
  Index correct = 0;
  for (std::size_t i = 0; i < told.size(); ++i) correct += told[i] == labels[usize(rows[i])] ? 1 : 0;
  return static_cast<double>(correct) / static_cast<double>(told.size());
}

}  // namespace widelimit::experiment
