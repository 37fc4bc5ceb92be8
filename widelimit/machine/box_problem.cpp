#include "widelimit/machine/box_problem.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Largest of a·t − ½ridge·a² for 0 ≤ a ≤ bound.
double one_sided_loss(double t, double bound, double ridge) {
  if (t <= 0 || bound == 0) return 0;
  if (ridge == 0) return bound * t;
  if (t <= ridge * bound) return t * t / (2 * ridge);
  return bound * t - ridge * bound * bound / 2;
}

/// The least yᵢ((Ka)ᵢ + b), with y = −p.
double least_margin(const BoxProblem& problem, std::span<const double> product, double bias) {
  double margin = no_bound;
  for (std::size_t i = 0; i < product.size(); ++i) {
    if (problem.lower[i] == problem.upper[i]) continue;
    margin = std::min(margin, -problem.linear[i] * (product[i] + bias));
  }
  return margin;
}

}  // namespace

double Objectives::gap() const {
  const double size = std::max(std::abs(primal), std::abs(dual));
  if (std::isinf(primal)) return no_bound;
  return size == 0 ? 0 : std::max(0.0, primal - dual) / size;
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
  const double primal = norm / 2 + loss;
  const double margin = problem.classifies ? least_margin(problem, product, bias) : 0;
  const double separating = norm / 2 / (margin * margin);
  if (margin > 0 && separating < primal) return {separating, dual, 1 / margin};
  return {primal, dual};
}

}  // namespace widelimit
