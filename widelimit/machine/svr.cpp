#include "widelimit/machine/svr.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/shared_progress.hpp"
#include "widelimit/machine/box_input.hpp"
#include "widelimit/machine/box_solver.hpp"
#include "widelimit/machine/merge.hpp"
#include "widelimit/machine/product.hpp"
#include "widelimit/machine/svm_path.hpp"

#include <cmath>

namespace widelimit {

namespace {

BoxProblem dual_of(const MatrixView<const double>& targets, Index output, const SvrOptions& options) {
  BoxProblem problem;
  problem.epsilon = options.epsilon;
  problem.equality = options.bias;
  for (Index i = 0; i < targets.rows; ++i) {
    const double weight = options.weights.empty() ? 1 : options.weights[static_cast<std::size_t>(i)];
    problem.linear.push_back(-targets(i, output));
    problem.upper.push_back(weight / options.lambda);
    problem.lower.push_back(-weight / options.lambda);
  }
  return problem;
}

}  // namespace

void SvrOptions::validate() const {
  check_lambdas({&lambda, 1});
  if (!std::isfinite(epsilon) || epsilon < 0) {
    fail(Code::input, "epsilon = {}; it must be finite and not negative", epsilon);
  }
  if (!(tolerance > 0) || !(tolerance < 1)) fail(Code::input, "tolerance = {}; it must be between 0 and 1", tolerance);
  if (max_iterations < 0) fail(Code::input, "max_iterations = {} is negative", max_iterations);
}

Fit fit_svr(const AnyView& k, const MatrixView<const double>& targets, const SvrOptions& options) {
  options.validate();
  check_box_input(k, targets.rows, options.threads);
  check_targets(targets, targets.rows);
  check_weights(options.weights, targets.rows);
  const auto begin = Clock::now();
  const int team = team_size(options.threads);
  const bool alone = targets.cols == 1;
  Fit fit;
  fit.alpha = Matrix<double>(targets.rows, targets.cols);
  fit.bias.resize(static_cast<std::size_t>(targets.cols));
  std::vector<Summary> parts(static_cast<std::size_t>(targets.cols));
  SharedProgress shared(options.progress, targets.cols, "outputs");
  const auto solve = [&](Index output) {
    BoxSolver solver(k);
    const BoxSolution solution =
        solver.solve(dual_of(targets, output, options), {.tolerance = options.tolerance,
                                                         .max_iterations = options.max_iterations,
                                                         .threads = alone ? team : 1,
                                                         .progress = alone ? options.progress : shared.get()});
    for (Index i = 0; i < targets.rows; ++i) fit.alpha(i, output) = solution.a[static_cast<std::size_t>(i)];
    fit.bias[static_cast<std::size_t>(output)] = solution.bias;
    parts[static_cast<std::size_t>(output)] = svm_summary(solution, options.lambda, SvmLoss::hinge);
  };
  if (alone) {
    solve(0);
  } else {
    parallel_for(targets.cols, team, solve, [&](Index done) { shared.at(done); });
  }
  fit.summary = merged(parts);
  fit.summary.seconds = seconds_since(begin);
  return fit;
}

}  // namespace widelimit
