#include "widelimit/machine/svm/svm_path.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

/// Returns the dual problem without the quantities that depend on λ.
BoxProblem dual_of(const BinaryProblem& binary, SvmLoss loss, bool bias) {
  const std::size_t n = binary.labels.size();
  BoxProblem problem;
  problem.equality = bias;
  problem.classifies = true;
  problem.lower.resize(n);
  problem.upper.resize(n);
  if (loss == SvmLoss::squared_hinge) problem.ridge.resize(n);
  problem.linear.reserve(n);
  for (const double y : binary.labels) problem.linear.push_back(-y);
  return problem;
}

void set_lambda(const BinaryProblem& binary, double lambda, SvmLoss loss, BoxProblem& problem) {
  for (std::size_t i = 0; i < binary.labels.size(); ++i) {
    const double y = binary.labels[i];
    const double weight = factor_at(binary.weights, static_cast<Index>(i));
    const double bound = loss == SvmLoss::hinge ? weight / lambda : (weight > 0 ? no_bound : 0);
    problem.upper[i] = y > 0 ? bound : 0;
    problem.lower[i] = y > 0 ? 0 : -bound;
    if (loss == SvmLoss::squared_hinge && weight > 0) problem.ridge[i] = lambda / 2 / weight;
  }
}

/// Scales the warm start to t·a, with the t that minimises the next objective within the box: a solution with all
/// coefficients at their bounds follows the bounds outwards, one without any stays. Scales Ka accordingly. Returns
/// whether anything changed.
bool rescale(const BoxProblem& problem, std::vector<double>& a, std::vector<double>& product) {
  double curvature = 0;
  double slope = 0;
  double largest_scale = no_bound;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0) continue;
    curvature += a[i] * (product[i] + problem.ridge_at(static_cast<Index>(i)) * a[i]);
    slope += problem.linear[i] * a[i];
    largest_scale = std::min(largest_scale, (a[i] > 0 ? problem.upper[i] : problem.lower[i]) / a[i]);
  }
  const double best = curvature > 0 ? -slope / curvature : largest_scale;
  const double t = std::max(0.0, std::min(best, largest_scale));
  if (!std::isfinite(t) || std::abs(t - 1) <= 1e-9) {
    // Keep a if it is feasible.
    const auto inside = [&](std::size_t i) { return a[i] >= problem.lower[i] && a[i] <= problem.upper[i]; };
    bool feasible = true;
    for (std::size_t i = 0; i < a.size(); ++i) feasible = feasible && inside(i);
    if (feasible) return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = std::clamp(std::isfinite(t) ? t * a[i] : a[i], problem.lower[i], problem.upper[i]);
    if (std::isfinite(t)) product[i] *= t;
  }
  return true;
}

/// Whether a solution and its proof hold for every smaller λ: bounds wᵢ/λ only widen the box, and a hard margin has
/// none. A ridge changes with λ.
bool holds_below(const BoxSolution& solution, SvmLoss loss) {
  return loss != SvmLoss::squared_hinge && solution.ending == Ending::converged && solution.objectives.lossless;
}

/// Whether a solution is a good warm start for a smaller λ. Variables at their bounds mostly leave them, one step each,
/// which takes longer than a start from 0.
bool mostly_free(const BoxProblem& problem, std::span<const double> a) {
  Index support = 0;
  Index bounded = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    support += a[i] != 0 ? 1 : 0;
    bounded += a[i] != 0 && (a[i] == problem.upper[i] || a[i] == problem.lower[i]) ? 1 : 0;
  }
  return 10 * bounded <= support;
}

/// Returns a·b·2^power without intermediate overflow.
double product_of(double a, double b, int power) {
  int of_a = 0;
  int of_b = 0;
  const double mantissas = std::frexp(a, &of_a) * std::frexp(b, &of_b);
  return std::ldexp(mantissas, of_a + of_b + power);
}

std::string gap_text(double gap) {
  return gap < no_bound ? fmt::format("a relative duality gap of {:.1e}", gap) : std::string("no proved margin");
}

const char* method_of(const BoxSolution& solution) {
  if (solution.rank == 0) return "decomposition, second-order working sets";
  return solution.interior ? "interior point on a low-rank factor"
                           : "interior point on a low-rank factor, then decomposition, second-order working sets";
}

}  // namespace

SvmPath solve_svm_path(const GramMatrix& k, const BinaryProblem& problem, std::span<const double> lambdas, SvmLoss loss,
                       const SvmOptions& options, Progress* progress) {
  std::vector<std::size_t> order(lambdas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return lambdas[i] > lambdas[j]; });

  BoxSolver solver(k, problem.samples);
  const BoxOptions box{.tolerance = options.tolerance, .max_iterations = options.max_iterations, .progress = progress};
  SvmPath path;
  path.solutions.reserve(lambdas.size());
  path.of_lambda.resize(lambdas.size());
  std::vector<double> a;
  std::vector<double> product;
  ProductError error;
  BoxProblem dual = dual_of(problem, loss, options.bias);
  for (const std::size_t index : order) {
    if (path.solutions.empty() || !holds_below(path.solutions.back(), loss)) {
      set_lambda(problem, lambdas[index], loss, dual);
      const bool changed = rescale(dual, a, product);
      path.solutions.push_back(
          solver.solve(dual, box, {a, product, changed || a.empty() ? std::nullopt : std::optional(error)}));
      path.found_at.push_back(index);
      const BoxSolution& found = path.solutions.back();
      if (mostly_free(dual, found.a)) {
        a = found.a;
        product = found.product;
        error = found.error;
      }
    }
    path.of_lambda[index] = path.solutions.size() - 1;
  }
  return path;
}

Summary svm_summary(const BoxSolution& solution, double lambda, SvmLoss loss, int power) {
  const double scale = loss == SvmLoss::hard ? 1 : lambda;
  Summary summary;
  summary.ending = solution.ending;
  summary.method = method_of(solution);
  summary.iterations = solution.iterations;
  summary.memory = solution.memory;
  if (solution.ending == Ending::not_positive_definite) return summary;
  const double gap = solution.objectives.gap();
  if (gap < no_bound) {
    const double primal = product_of(scale, solution.objectives.primal, 2 * power);
    const double dual = product_of(scale, solution.objectives.dual, 2 * power);
    if (std::isfinite(primal)) summary.primal = primal;
    if (std::isfinite(dual)) summary.dual = dual;
    summary.gap = gap;
  }
  if (solution.ending == Ending::not_separable) {
    summary.message =
        "no hyperplane separates the classes by more than the rounding of the Gram matrix, so a hard margin does not "
        "exist; use a soft margin (svm or svm2 with lambda > 0)";
  } else if (solution.rounded) {
    const auto size = [](double a, double b) { return std::abs(a) < std::abs(b); };
    summary.message = fmt::format(
        "coefficients are as large as {:.1e}, and rounding ends all steps with {}; the result is the best so far. "
        "Increase lambda or the tolerance, or scale the samples",
        std::abs(*std::max_element(solution.a.begin(), solution.a.end(), size)), gap_text(gap));
  } else if (solution.ending == Ending::iteration_limit) {
    summary.message = fmt::format(
        "stopped after {} working sets with {}; the result is the best so far. Increase lambda, the tolerance or "
        "the iteration limit",
        solution.iterations, gap_text(gap));
  }
  return summary;
}

std::vector<Summary> svm_summaries(const SvmPath& path, std::span<const double> lambdas, SvmLoss loss) {
  std::vector<Summary> summaries;
  summaries.reserve(lambdas.size());
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    summaries.push_back(svm_summary(path.at(l), lambdas[l], loss));
    if (path.found_at[path.of_lambda[l]] != l) summaries.back().iterations = 0;
  }
  return summaries;
}

void check_lambdas(std::span<const double> lambdas) {
  for (const double lambda : lambdas) {
    if (!std::isfinite(lambda) || lambda <= 0) {
      fail(Code::input, "lambda = {}; it must be finite and positive (a hard margin is its own machine)", lambda);
    }
  }
}

void check_bounds(std::span<const double> lambdas, std::span<const double> weights) {
  constexpr double largest_bound = 1e300;
  const auto check = [](double weight, double lambda) {
    const double bound = weight / lambda;
    if (weight == 0 || (bound <= largest_bound && bound >= 1 / largest_bound)) return;
    fail(Code::input,
         "a sample of weight {:g} at lambda = {:g} has coefficients up to {:g}, outside the range of float64", weight,
         lambda, bound);
  };
  for (const double lambda : lambdas) {
    if (weights.empty()) check(1, lambda);
    for (const double weight : weights) check(weight, lambda);
  }
}

void check_box_input(const GramMatrix& k, Index samples) {
  if (k.samples() != samples) fail(Code::input, "the Gram matrix has {} rows for {} samples", k.samples(), samples);
  (void)k.check();
}

void check_signs(std::span<const double> labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != 1 && labels[i] != -1) fail(Code::input, "label {} is {}; labels must be 1 or -1", i, labels[i]);
  }
  if (std::all_of(labels.begin(), labels.end(), [&](double y) { return y == labels[0]; })) {
    fail(Code::input, "all {} labels are {}; a classifier needs samples of both classes", labels.size(), labels[0]);
  }
}

}  // namespace widelimit
