#include "widelimit/machine/box_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Largest of a·t − ½ridge·a² for 0 ≤ a ≤ bound.
double one_sided_loss(double t, double bound, double ridge) {
  if (t <= 0 || bound == 0) return 0;
  if (ridge > 0 && t <= ridge * bound) return t * t / (2 * ridge);
  return bound * t - ridge * bound * bound / 2;
}

bool is_hard(const BoxProblem& problem) {
  if (!problem.ridge.empty()) return false;
  const auto infinite = [](double bound) { return std::isinf(bound); };
  return std::any_of(problem.upper.begin(), problem.upper.end(), infinite) ||
         std::any_of(problem.lower.begin(), problem.lower.end(), infinite);
}

/// The least yᵢ((Ka)ᵢ + b), with y = −p.
double least_margin(const BoxProblem& problem, std::span<const double> product, double bias) {
  double margin = infinity;
  for (std::size_t i = 0; i < product.size(); ++i) {
    if (problem.lower[i] == problem.upper[i]) continue;
    margin = std::min(margin, -problem.linear[i] * (product[i] + bias));
  }
  return margin;
}

}  // namespace

double Objectives::gap() const {
  const double scale = std::max(std::abs(primal), std::abs(dual));
  if (std::isinf(primal)) return infinity;
  return scale == 0 ? 0 : std::max(0.0, primal - dual) / scale;
}

Objectives objectives(const BoxProblem& problem, std::span<const double> a, std::span<const double> product,
                      double bias) {
  double norm = 0;
  double ridge_part = 0;
  double linear = 0;
  double loss = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double ridge = problem.ridge_at(static_cast<Index>(i));
    norm += a[i] * product[i];
    ridge_part += ridge * a[i] * a[i];
    linear += problem.linear[i] * a[i] + problem.epsilon * std::abs(a[i]);
    const double r = product[i] + bias + problem.linear[i];
    loss += one_sided_loss(-r - problem.epsilon, problem.upper[i], ridge);
    loss += one_sided_loss(r - problem.epsilon, -problem.lower[i], ridge);
  }
  const double dual = -(norm + ridge_part) / 2 - linear;
  if (!is_hard(problem)) return {norm / 2 + loss, dual};
  const double margin = least_margin(problem, product, bias);
  return {margin > 0 ? norm / 2 / (margin * margin) : infinity, dual};
}

}  // namespace widelimit
