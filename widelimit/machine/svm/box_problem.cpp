#include "widelimit/machine/svm/box_problem.hpp"

#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/summary.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Rounding error of the few operations of one term of a sum, and of the sum itself, with a margin.
constexpr double term_rounding = 32 * unit_rounding;
/// Rounding error of bounds, with a margin: coefficients may exceed the box, and losses be steeper, by this factor.
constexpr double bound_rounding = 4 * unit_rounding;

/// Rate of decrease of the objective without its ridge as a coefficient leaves 0, at r = (Ka)ᵢ + b + pᵢ: −r − ε
/// upwards, r − ε downwards.
struct DescentRates {
  double up;
  double down;
};

/// Contribution of one sample to an objective: φ(a) = ε|a| + ½ridge·a² for lower ≤ a ≤ upper.
struct Term {
  double lower;
  double upper;
  double ridge;

  /// φ*(−r), the loss.
  [[nodiscard]] double loss(const DescentRates& rate) const {
    return rate.up > 0 ? one_side(rate.up, upper) : one_side(rate.down, -lower);
  }
  /// Returns φ(a) + ar + φ*(−r) ≥ 0, as one product or a sum of nonnegative terms.
  [[nodiscard]] double gap(double a, const DescentRates& rate) const {
    return a < 0 ? one_side_gap(-a, rate.down, -lower, one_side(rate.up, upper))
                 : one_side_gap(a, rate.up, upper, one_side(rate.down, -lower));
  }

 private:
  /// Returns the maximum of at − ½ridge·a² over 0 ≤ a ≤ bound.
  [[nodiscard]] double one_side(double t, double bound) const {
    if (!(t > 0) || bound == 0) return 0;
    if (ridge == 0) return bound * t;
    if (t <= ridge * bound) return t / (2 * ridge) * t;
    return bound * (t - ridge * bound / 2);
  }
  /// Returns the gap of a ≥ 0 on the side towards which t moves a; `other` is the loss of the other side.
  [[nodiscard]] double one_side_gap(double a, double t, double bound, double other) const {
    if (!(t > 0)) return other + a * (ridge / 2 * a - t);
    if (ridge > 0 && t <= ridge * bound) {
      const double missing = t - ridge * a;
      return missing / (2 * ridge) * missing;
    }
    const double left = bound - a;
    return ridge == 0 || left == 0 ? left * t : left * (t - ridge * (bound / 2 + a / 2));
  }
};

/// Returns P and D by their definitions, without rounding errors.
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
    const double r = product[i] + bias + problem.linear[i];
    loss += Term{problem.lower[i], problem.upper[i], ridge}.loss({-r - problem.epsilon, r - problem.epsilon});
  }
  const double dual = -(norm + ridge_part) / 2 - linear;
  const double primal = norm / 2 + loss;
  const double margin = problem.classifies ? least_margin(problem, product, bias) : 0;
  const double separating = norm / 2 / margin / margin;
  if (margin > 0 && separating <= primal) return {separating, dual, true};
  return {primal, dual};
}

/// Excess of the larger of the positive and negative parts of a with respect to Σaᵢ = 0.
struct Surplus {
  bool positive = false;  ///< the positive part is larger
  double share = 0;       ///< upper bound of its relative excess

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
  const double share = (std::abs(sum.value()) + hidden) / side[positive ? 1 : 0];
  return {positive, std::min(1.0, share * (1 + 2 * rounding_of(std::ssize(a) + 32)))};
}

/// Rates at both ends of the interval of (Ka)ᵢ + b + pᵢ, including rounding.
struct DescentRateRange {
  DescentRates low;   ///< at the smallest r
  DescentRates high;  ///< at the largest r
};

DescentRateRange descent_rates(const BoxProblem& problem, std::size_t i, double a, double product, double bias,
                               const ProductError& error) {
  CompensatedSum down;
  for (const double term : {product, problem.linear[i], bias}) down.add(term);
  CompensatedSum up = down.negated();
  up.add(-problem.epsilon);
  down.add(-problem.epsilon);
  // The product may have one more rounding than `error` includes; a ridge is rounded in proportion to its term in r.
  const double added = std::abs(product) + std::abs(problem.linear[i]) + std::abs(bias) + problem.epsilon;
  const double rounded = std::abs(product) + 2 * problem.ridge_at(static_cast<Index>(i)) * std::abs(a) +
                         (up.exact() && down.exact() ? 0 : 4 * unit_rounding * added);
  const double off = (error.at(i) + 2 * unit_rounding * rounded) * (1 + term_rounding);
  const auto moved = [&](const CompensatedSum& sum, double by) {
    const double t = sum.value();
    const double own = sum.exact() && by == 0 ? 0 : 2 * unit_rounding * (std::abs(t) + std::abs(by));
    return t + by + (by < 0 ? -own : own);
  };
  return {{moved(up, off), moved(down, -off)}, {moved(up, -off), moved(down, off)}};
}

/// Returns an upper bound of the error of r = (Ka)ᵢ + b + pᵢ in float64, including its additions.
double rough_error(const BoxProblem& problem, std::size_t i, double product, double bias, const ProductError& error) {
  const double added = std::abs(product) + std::abs(problem.linear[i]) + std::abs(bias) + problem.epsilon;
  return error.at(i) + 16 * unit_rounding * added;
}

/// Whether a coefficient of 0 is optimal for any rounding, as for most samples, which then have no loss.
bool stays_away(const BoxProblem& problem, std::size_t i, double product, double bias, const ProductError& error) {
  const double r = product + problem.linear[i] + bias;
  const double slack = problem.epsilon - 2 * rough_error(problem, i, product, bias, error);
  return (problem.upper[i] == 0 || slack > -r) && (problem.lower[i] == 0 || slack > r);
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
    if (a[i] == 0 && stays_away(problem, i, product[i], bias, error)) continue;
    norm.add_product(a[i], product[i]);
    norm_error += std::abs(a[i]) * (error.at(i) + 2 * unit_rounding * std::abs(product[i]));
    const Term term{problem.lower[i] * (1 + bound_rounding), problem.upper[i] * (1 + bound_rounding),
                    problem.ridge_at(static_cast<Index>(i))};
    const DescentRateRange rates = descent_rates(problem, i, a[i], product[i], bias, error);
    const double ends[2]{term.loss(rates.low), term.loss(rates.high)};
    loss += std::max(ends[0], ends[1]);
    // Zero if both sides may be active, since r may then be 0.
    least_loss += rates.low.up > 0 && rates.high.down > 0 ? 0 : std::min(ends[0], ends[1]);
    const double share = bound_rounding + (surplus.has(a[i]) ? surplus.share : 0);
    const double kept = a[i] * std::max(0.0, 1 - share);
    const double largest = std::max(
        {term.gap(a[i], rates.low), term.gap(a[i], rates.high), term.gap(kept, rates.low), term.gap(kept, rates.high)});
    gap += largest;
    if (a[i] != 0 || largest > 0) gap += 16 * underflow_unit;
    moved += 2 * error.lengths[i] * std::abs(a[i] - kept);  // factor 2: the difference is rounded
  }
  const double slack = static_cast<double>(a.size()) * unit_rounding + term_rounding;
  gap = (gap + moved / 2 * moved) * (1 + 2 * slack);
  const double low = norm.value() / 2 - norm_error * (1 + slack) + least_loss * (1 - slack);
  const double high = norm.value() / 2 + norm_error * (1 + slack) + loss * (1 + slack);
  if (!(gap < no_bound) || !(high < no_bound)) return {no_bound, 0};
  const double primal = low + (high - low) / 2;
  return {primal, low - gap - 8 * unit_rounding * (std::abs(low) + gap), loss == 0};
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
    double missing = problem.linear[i] * (product[i] + problem.linear[i] + bias);
    if (error.counted()) {
      if (1 - missing - 2 * rough_error(problem, i, product[i], bias, error) > margin) continue;
      const DescentRateRange rates = descent_rates(problem, i, 0, product[i], bias, error);
      missing = problem.linear[i] < 0 ? rates.low.up : rates.high.down;
    }
    margin = std::min(margin, missing > 0 ? 1 - missing - unit_rounding : 1 - missing);
  }
  return margin;
}

Objectives objectives(const BoxProblem& problem, std::span<const double> a, std::span<const double> product,
                      double bias, const ProductError& error) {
  return error.counted() ? counted(problem, a, product, bias, error) : nominal(problem, a, product, bias);
}

}  // namespace widelimit
