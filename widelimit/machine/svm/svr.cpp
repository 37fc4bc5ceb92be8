#include "widelimit/machine/svm/svr.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/svm/box_solver.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Exponents of 2 beyond which the square of a target, or its product with a coefficient, may overflow or underflow.
constexpr int farthest_exponent = 800;
constexpr int last_exponent = 990;

double longest_diagonal(const GramMatrix& k) {
  return std::max(0.0, *std::max_element(k.diagonal().begin(), k.diagonal().end()));
}

/// Scaling targets, ε and coefficients by 2^−p leaves the machine unchanged. Returns the p for which the objectives y·a
/// neither overflow nor underflow; 0 if they are in range already.
int target_power(const MatrixView<const double>& targets, Index output, const SvrOptions& options, double longest) {
  double largest = options.epsilon;
  double heaviest = options.weights.empty() ? 1 : 0;
  for (Index i = 0; i < targets.rows; ++i) largest = std::max(largest, std::abs(targets(i, output)));
  for (const double weight : options.weights) heaviest = std::max(heaviest, weight);
  if (largest == 0) return 0;
  const int of_bound = std::ilogb(heaviest / options.lambda);
  const int of_target = std::ilogb(largest);
  const int reach = longest > 0 ? std::min(of_bound, of_target - std::ilogb(longest)) : of_bound;
  if (std::abs(of_target + reach) <= farthest_exponent) return 0;
  return std::clamp((of_target + reach) / 2, of_bound - last_exponent, of_bound + last_exponent);
}

BoxProblem dual_of(const MatrixView<const double>& targets, Index output, const SvrOptions& options, int power) {
  BoxProblem problem;
  problem.epsilon = std::ldexp(options.epsilon, -power);
  problem.equality = options.bias;
  for (Index i = 0; i < targets.rows; ++i) {
    const double bound = std::ldexp(factor_at(options.weights, i) / options.lambda, -power);
    problem.linear.push_back(-std::ldexp(targets(i, output), -power));
    problem.upper.push_back(bound);
    problem.lower.push_back(-bound);
  }
  return problem;
}

/// Returns value·2^power; sets `exact` to false if it is not exact in float64.
double unscaled(double value, int power, bool& exact) {
  const double result = std::ldexp(value, power);
  exact = exact && std::ldexp(result, -power) == value;
  return result;
}

/// Marks the fit as failed: the proof refers to coefficients that exceed the range of float64.
void set_out_of_range(Summary& summary) {
  summary.ending = Ending::iteration_limit;
  summary.primal = summary.dual = summary.gap = std::nullopt;
  summary.message = "coefficients exceed the range of float64; scale targets and kernel towards 1";
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

Fit fit_svr(const GramMatrix& k, const MatrixView<const double>& targets, const SvrOptions& options) {
  options.validate();
  check_box_input(k, targets.rows);
  check_targets(targets, targets.rows);
  check_weights(options.weights, targets.rows);
  check_bounds({&options.lambda, 1}, options.weights);
  const auto begin = Clock::now();
  if (options.check_definite && !is_semidefinite(k, options.progress)) {
    return std::move(indefinite_fits(k, targets.rows, targets.cols, 1, seconds_since(begin), options.progress).front());
  }
  const bool alone = targets.cols == 1;
  Fit fit;
  fit.alpha = Matrix<double>(targets.rows, targets.cols);
  fit.bias.resize(static_cast<std::size_t>(targets.cols));
  std::vector<Summary> parts(static_cast<std::size_t>(targets.cols));
  SharedProgress shared(options.progress, targets.cols, "outputs");
  const double longest = longest_diagonal(k);
  const auto solve = [&](Index output) {
    BoxSolver solver(k);
    const int power = target_power(targets, output, options, longest);
    const BoxSolution solution =
        solver.solve(dual_of(targets, output, options, power), {.tolerance = options.tolerance,
                                                                .max_iterations = options.max_iterations,
                                                                .progress = alone ? options.progress : shared.get()});
    bool exact = true;
    for (Index i = 0; i < targets.rows; ++i) {
      fit.alpha(i, output) = unscaled(solution.a[static_cast<std::size_t>(i)], power, exact);
    }
    fit.bias[static_cast<std::size_t>(output)] = unscaled(solution.bias, power, exact);
    Summary& part = parts[static_cast<std::size_t>(output)];
    part = svm_summary(solution, options.lambda, SvmLoss::hinge, power);
    if (!exact) set_out_of_range(part);
  };
  if (alone) {
    solve(0);
  } else {
    k.engine().for_each(targets.cols, solve, [&](Index done) { shared.at(done); });
  }
  fit.summary = combined(parts);
  fit.summary.seconds = seconds_since(begin);
  name_diagonal_shift(k, {&fit, 1}, options.progress);
  return fit;
}

}  // namespace widelimit
