#include "widelimit/machine/box_problem.hpp"

#include "widelimit/machine/rounding.hpp"
#include "widelimit/machine/summary.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Roundings of the few operations that make one term of a sum, and of the sum itself, with room.
constexpr double term_rounding = 32 * unit_rounding;
/// Of bounds, with room: coefficients may be so much outside the box, and losses so much steeper.
constexpr double bound_rounding = 4 * unit_rounding;

/// What one sample has to do with an objective: φ(a) = ε|a| + ½ridge·a² for lower ≤ a ≤ upper.
struct Term {
  double lower;
  double upper;
  double ridge;
  double epsilon;

  [[nodiscard]] double room(bool upward) const { return upward ? upper : -lower; }
  /// φ*(−r), the loss.
  [[nodiscard]] double loss(double r) const;
  /// φ(a) + ar + φ*(−r) ≥ 0, as one product or a sum of what is not negative.
  [[nodiscard]] double gap(double a, double r) const;
};

double Term::loss(double r) const {
  const double t = std::abs(r) - epsilon;
  const double bound = room(r < 0);
  if (!(t > 0) || bound == 0) return 0;
  if (ridge == 0) return bound * t;
  if (t <= ridge * bound) return t / (2 * ridge) * t;
  return bound * (t - ridge * bound / 2);
}

double Term::gap(double a, double r) const {
  const double t = std::abs(r) - epsilon;
  const double along = r < 0 ? a : -a;  // a, counted to the side where −r draws it
  if (along < 0) return loss(r) + std::abs(a) * (std::abs(r) + epsilon + ridge / 2 * std::abs(a));
  if (!(t > 0)) return along * (ridge / 2 * along - t);
  const double bound = room(r < 0);
  if (ridge > 0 && t <= ridge * bound) {
    const double missing = t - ridge * along;
    return missing / (2 * ridge) * missing;
  }
  const double left = bound - along;
  return left == 0 ? 0 : left * (t - ridge * (bound / 2 + along / 2));
}

/// Nominal values, as P and D are defined.
Objectives nominal(const BoxProblem& problem, std::span<const double> a, std::span<const double> product, double bias) {
  double norm = 0;
  double ridge_part = 0;
  double linear = 0;
  double loss = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double ridge = problem.ridge_at(static_cast<Index>(i));
    norm += a[i] * product[i];
    ridge_part += ridge * a[i] * a[i];
    linear += problem.linear[i] * a[i] + problem.epsilon * std::abs(a[i]);
    const Term term{problem.lower[i], problem.upper[i], ridge, problem.epsilon};
    loss += term.loss(product[i] + bias + problem.linear[i]);
  }
  const double dual = -(norm + ridge_part) / 2 - linear;
  const double primal = norm / 2 + loss;
  const double margin = problem.classifies ? least_margin(problem, product, bias) : 0;
  const double separating = norm / 2 / margin / margin;
  if (margin > 0 && separating < primal) return {separating, dual, 1 / margin};
  return {primal, dual};
}

/// How much of the larger of the two sides of a is too much for Σaᵢ = 0.
struct Surplus {
  bool positive = false;  ///< the larger side
  double share = 0;       ///< of it, at the most

  [[nodiscard]] bool has(double coefficient) const { return positive ? coefficient > 0 : coefficient < 0; }
};

Surplus surplus_of(std::span<const double> a) {
  CompensatedSum sum;
  double side[2]{};
  for (const double value : a) {
    sum.add(value);
    side[value > 0 ? 1 : 0] += std::abs(value);
  }
  const double total = side[0] + side[1];
  if (total == 0) return {};
  const double hidden = 2 * std::pow(rounding_of(std::ssize(a)), 2) * total;
  const bool positive = sum.value() > 0;
  return {positive, std::min(1.0, (std::abs(sum.value()) + hidden) / side[positive ? 1 : 0] * (1 + 2 * term_rounding))};
}

/// Ends between which (Ka)ᵢ + b + pᵢ lies, whatever was rounded.
struct Residual {
  double low;
  double high;
};

Residual residual_of(const BoxProblem& problem, std::size_t i, double a, double product, double bias,
                     const ProductError& error) {
  CompensatedSum sum;
  for (const double term : {product, problem.linear[i], bias}) sum.add(term);
  const double r = sum.value();
  const double added = std::abs(product) + std::abs(problem.linear[i]) + std::abs(bias);
  // The product may have been rounded once more than `error` says; a ridge is rounded as far as it adds to r.
  const double rounded = std::abs(product) + (sum.exact() ? 0 : std::abs(r) + unit_rounding * added) +
                         2 * problem.ridge_at(static_cast<Index>(i)) * std::abs(a);
  const double width = (error.at(i) + 2 * unit_rounding * rounded) * (1 + term_rounding);
  return {r - width, r + width};
}

Objectives counted(const BoxProblem& problem, std::span<const double> a, std::span<const double> product, double bias,
                   const ProductError& error) {
  const Surplus surplus = problem.equality ? surplus_of(a) : Surplus{};
  CompensatedSum norm;
  double norm_error = 0;
  double least_loss = 0;
  double loss = 0;
  double gap = 0;
  double moved = 0;  // Σ√K_ii|eᵢ|
  for (std::size_t i = 0; i < a.size(); ++i) {
    norm.add_product(a[i], product[i]);
    norm_error += std::abs(a[i]) * (error.at(i) + 2 * unit_rounding * std::abs(product[i]));
    const Term term{problem.lower[i] * (1 + bound_rounding), problem.upper[i] * (1 + bound_rounding),
                    problem.ridge_at(static_cast<Index>(i)), problem.epsilon};
    const Residual r = residual_of(problem, i, a[i], product[i], bias, error);
    const double ends[2]{term.loss(r.low), term.loss(r.high)};
    loss += std::max(ends[0], ends[1]);
    least_loss += r.low < 0 && r.high > 0 ? 0 : std::min(ends[0], ends[1]);
    const double share = bound_rounding + (surplus.has(a[i]) ? surplus.share : 0);
    const double kept = a[i] * std::max(0.0, 1 - share);
    const double largest =
        std::max({term.gap(a[i], r.low), term.gap(a[i], r.high), term.gap(kept, r.low), term.gap(kept, r.high)});
    gap += largest;
    if (a[i] != 0 || largest > 0) gap += 16 * underflow_unit;
    moved += error.lengths[i] * std::abs(a[i] - kept);
  }
  const double slack = static_cast<double>(a.size()) * unit_rounding + term_rounding;
  gap = (gap + moved / 2 * moved) * (1 + 2 * slack);
  const double low = norm.value() / 2 - norm_error * (1 + slack) + least_loss * (1 - slack);
  const double high = norm.value() / 2 + norm_error * (1 + slack) + loss * (1 + slack);
  if (!(gap < no_bound) || !(high < no_bound)) return {no_bound, 0};
  const double primal = low + (high - low) / 2;
  return {primal, low - gap - 4 * unit_rounding * (std::abs(low) + gap)};
}

}  // namespace

double Objectives::gap() const {
  if (!(primal < no_bound)) return no_bound;
  return std::max(0.0, relative_gap(primal, dual));
}

double least_margin(const BoxProblem& problem, std::span<const double> product, double bias,
                    const ProductError& error) {
  double margin = no_bound;
  for (std::size_t i = 0; i < product.size(); ++i) {
    if (problem.lower[i] == problem.upper[i]) continue;
    double beyond = -problem.linear[i] * (product[i] + problem.linear[i] + bias);
    if (error.counted()) {
      const Residual r = residual_of(problem, i, 0, product[i], bias, error);
      beyond = problem.linear[i] < 0 ? r.low : -r.high;
    }
    margin = std::min(margin, 1 + beyond);
  }
  return margin;
}

Objectives objectives(const BoxProblem& problem, std::span<const double> a, std::span<const double> product,
                      double bias, const ProductError& error) {
  return error.counted() ? counted(problem, a, product, bias, error) : nominal(problem, a, product, bias);
}

}  // namespace widelimit
