#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/machine/binary_problems.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/probability/platt.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <algorithm>
#include <numeric>

namespace widelimit {

namespace {

/// A binary problem with explicit sample indices, split into folds.
struct FoldedProblem {
  BinaryProblem problem;
  std::vector<Index> fold;  ///< fold of each sample, round-robin within its class
  Index folds = 0;
  std::vector<double> decisions;  ///< held-out decisions
};

/// Removes samples with weight 0.
BinaryProblem weighed(BinaryProblem problem) {
  if (problem.samples.empty()) {
    problem.samples.resize(problem.labels.size());
    std::iota(problem.samples.begin(), problem.samples.end(), Index{0});
  }
  if (problem.weights.empty()) return problem;
  BinaryProblem kept;
  for (std::size_t i = 0; i < problem.samples.size(); ++i) {
    if (problem.weights[i] == 0) continue;
    kept.samples.push_back(problem.samples[i]);
    kept.labels.push_back(problem.labels[i]);
    kept.weights.push_back(problem.weights[i]);
  }
  return kept;
}

FoldedProblem folded(BinaryProblem problem, Index folds) {
  if (folds < 2) fail(Code::input, "held-out decisions need at least 2 folds, not {}", folds);
  FoldedProblem result{.problem = std::move(problem), .fold = {}, .decisions = {}};
  const std::vector<double>& labels = result.problem.labels;
  const Index positive = std::count(labels.begin(), labels.end(), 1.0);
  const Index rarer = std::min(positive, std::ssize(labels) - positive);
  if (rarer < 2) fail(Code::input, "probabilities need two samples of each class; one class has {}", rarer);
  result.folds = std::min(folds, rarer);
  Index next[2]{0, 0};
  for (const double y : labels) result.fold.push_back(next[y > 0 ? 1 : 0]++ % result.folds);
  result.decisions.resize(labels.size());
  return result;
}

void decide_fold(const GramMatrix& k, FoldedProblem& whole, Index fold, const SvmOptions& options, SvmLoss loss,
                 Progress* progress) {
  BinaryProblem fitted;
  for (std::size_t i = 0; i < whole.fold.size(); ++i) {
    if (whole.fold[i] == fold) continue;
    fitted.samples.push_back(whole.problem.samples[i]);
    fitted.labels.push_back(whole.problem.labels[i]);
    if (!whole.problem.weights.empty()) fitted.weights.push_back(whole.problem.weights[i]);
  }
  const SvmPath path = solve_svm_path(k, fitted, {&options.lambda, 1}, loss, options, progress);
  const BoxSolution& solution = path.at(0);
  std::vector<Index> held_out;
  for (std::size_t i = 0; i < whole.fold.size(); ++i) {
    if (whole.fold[i] == fold) held_out.push_back(whole.problem.samples[i]);
  }
  const EngineMatrix rows = k.algebra().gather(k.matrix(), held_out, fitted.samples);
  std::vector<double> g(held_out.size());
  k.algebra().multiply(Transpose::no, rows, {solution.a.data(), std::ssize(solution.a), 1, 1},
                       {g.data(), std::ssize(g), 1, 1});
  std::size_t next = 0;
  for (std::size_t i = 0; i < whole.fold.size(); ++i) {
    if (whole.fold[i] == fold) whole.decisions[i] = g[next++] + solution.bias;
  }
}

/// Computes all folds of all problems in parallel.
void decide(const GramMatrix& k, std::vector<FoldedProblem>& problems, const SvmOptions& options, SvmLoss loss) {
  std::vector<std::pair<std::size_t, Index>> tasks;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    for (Index fold = 0; fold < problems[p].folds; ++fold) tasks.emplace_back(p, fold);
  }
  SharedProgress shared(options.progress, std::ssize(tasks), "folds");
  k.engine().for_each(
      std::ssize(tasks),
      [&](Index t) {
        const auto& task = tasks[usize(t)];
        decide_fold(k, problems[task.first], task.second, options, loss, shared.get());
      },
      [&](Index done) { shared.at(done); });
}

/// Throws Error{numerical} if K is not positive semi-definite: folds then have no solution.
void check_calibration(const GramMatrix& k, Index samples, const SvmOptions& options) {
  options.validate();
  check_box_input(k, samples);
  check_weights(options.weights, samples);
  if (options.check_definite && !is_semidefinite(k, options.progress)) {
    fail(Code::numerical, "{}", diagonal_shift_advice(k, options.progress));
  }
}

}  // namespace

std::vector<double> held_out_decisions(const GramMatrix& k, std::span<const double> labels, Index folds,
                                       const SvmOptions& options, SvmLoss loss) {
  check_calibration(k, std::ssize(labels), options);
  check_signs(labels);
  BinaryProblem problem;
  problem.labels.assign(labels.begin(), labels.end());
  problem.weights.assign(options.weights.begin(), options.weights.end());
  problem.samples.resize(labels.size());
  std::iota(problem.samples.begin(), problem.samples.end(), Index{0});
  std::vector<FoldedProblem> problems;
  problems.push_back(folded(std::move(problem), folds));
  decide(k, problems, options, loss);
  return std::move(problems.front().decisions);
}

std::vector<Sigmoid> calibrate(const GramMatrix& k, std::span<const Index> labels, Index classes, Scheme scheme,
                               const SvmOptions& options, SvmLoss loss, Index folds) {
  check_calibration(k, std::ssize(labels), options);
  std::vector<FoldedProblem> problems;
  for (BinaryProblem& problem : binary_problems(labels, classes, scheme, options.weights)) {
    problems.push_back(folded(weighed(std::move(problem)), folds));
  }
  decide(k, problems, options, loss);
  std::vector<Sigmoid> sigmoids;
  for (const FoldedProblem& problem : problems) {
    sigmoids.push_back(fit_sigmoid(problem.decisions, problem.problem.labels));
  }
  return sigmoids;
}

}  // namespace widelimit
