#include "widelimit/machine/svm/box_evaluator.hpp"

#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Fraction of the tolerance that rounding may take without more accurate products.
constexpr double rounding_share = 1.0 / 16;
/// Attempts to scale a classifier so that no margin is below 1 after rounding.
constexpr int most_scalings = 4;

/// Returns the midpoint between the slopes of variables that can increase and of those that can decrease; if one set is
/// empty, the end of the other.
double best_bias(const BoxProblem& problem, std::span<const double> a, std::span<const double> product) {
  double least = no_bound;
  double largest = -no_bound;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double slope = product[i] + problem.linear[i] + problem.ridge_at(static_cast<Index>(i)) * a[i];
    if (a[i] < problem.upper[i]) least = std::min(least, slope + (a[i] >= 0 ? 1 : -1) * problem.epsilon);
    if (a[i] > problem.lower[i]) largest = std::max(largest, slope + (a[i] > 0 ? 1 : -1) * problem.epsilon);
  }
  if (std::isinf(least) && std::isinf(largest)) return 0;
  if (std::isinf(least)) return -largest;
  if (std::isinf(largest)) return -least;
  return -(least / 2 + largest / 2);
}

bool has_no_bounds(const BoxProblem& problem) {
  const auto infinite = [](double bound) { return std::isinf(bound); };
  return problem.ridge.empty() && (std::any_of(problem.upper.begin(), problem.upper.end(), infinite) ||
                                   std::any_of(problem.lower.begin(), problem.lower.end(), infinite));
}

}  // namespace

template <std::floating_point T>
BoxEvaluator<T>::BoxEvaluator(GramColumns<T>& columns, double asymmetry, double excess,
                              std::function<void()> on_progress)
    : columns_(columns),
      asymmetry_(asymmetry),
      excess_(excess),
      on_progress_(std::move(on_progress)),
      recomputed_(columns, asymmetry, excess) {
  for (Index k = 0; k < columns.size(); ++k) negative_ = negative_ || columns.diagonal(k) < 0;
}

template <std::floating_point T>
void BoxEvaluator<T>::set_problem(const BoxProblem& problem) {
  problem_ = &problem;
  unbounded_ = has_no_bounds(problem);
  known_ = false;
  recomputed_.make_precise(false);
}

template <std::floating_point T>
void BoxEvaluator<T>::evaluate_nominal(BoxSolution& found) const {
  found.bias = problem_->equality ? best_bias(*problem_, found.a, found.product) : 0;
  found.objectives = objectives(*problem_, found.a, found.product, found.bias);
}

template <std::floating_point T>
void BoxEvaluator<T>::evaluate_rigorous(BoxSolution& found, double tolerance) {
  const Objectives nominal = found.objectives;
  const auto rounded = [&] {
    return found.objectives.gap() - nominal.gap() > std::max(rounding_share * tolerance, nominal.gap());
  };
  const bool separates = problem_->classifies && (nominal.lossless || unbounded_);
  for (;;) {
    if (!known_) refresh(found);
    known_ = false;
    unscaled_ = found;
    const ProductError error_before = recomputed_.error();
    bool scaled = separates && widen(found);
    found.objectives = objectives(*problem_, found.a, found.product, found.bias, recomputed_.error());
    if (problem_->classifies && !(found.objectives.gap() <= tolerance)) {
      if (!scaled) scaled = widen(found);
      if (scaled) {
        found.objectives = objectives(*problem_, found.a, found.product, found.bias, recomputed_.error());
        unscaled_.objectives = objectives(*problem_, unscaled_.a, unscaled_.product, unscaled_.bias, error_before);
        if (unscaled_.objectives.gap() <= found.objectives.gap()) found = unscaled_;
      }
    }
    if (precise() || !rounded()) return;
    recomputed_.make_precise();
  }
}

/// Scales a separating classifier to margins of 1; returns false if it does not separate or needs no scaling.
template <std::floating_point T>
bool BoxEvaluator<T>::widen(BoxSolution& found) {
  bool scaled = false;
  for (int attempt = 1; attempt <= most_scalings; ++attempt) {
    const double margin = least_margin(*problem_, found.product, found.bias, recomputed_.error());
    if (!(margin > 0) || margin == 1 || (attempt > 1 && margin > 1)) break;
    const double scaling_error = precise() ? 0 : recomputed_.scaling_error();
    const double t = (1 + 8 * attempt * unit_rounding + scaling_error) / margin;
    if (!scale_by(t, found)) break;
    scaled = true;
    // The rounding of the coefficients exceeds that of a product in doubled precision.
    if (precise()) {
      refresh(found);
    } else {
      recomputed_.scale(t, found.product);
    }
  }
  return scaled;
}

/// Returns false, without changes, if a coefficient would leave the box.
template <std::floating_point T>
bool BoxEvaluator<T>::scale_by(double t, BoxSolution& found) const {
  for (std::size_t i = 0; i < found.a.size(); ++i) {
    const double scaled = t * found.a[i];
    if (!std::isfinite(scaled) || !(scaled <= problem_->upper[i]) || !(scaled >= problem_->lower[i])) return false;
  }
  for (double& a : found.a) a *= t;
  found.bias *= t;
  return true;
}

template <std::floating_point T>
typename BoxEvaluator<T>::Size BoxEvaluator<T>::size_of(std::span<const double> v,
                                                        std::span<const double> product) const {
  Size size;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] == 0) continue;
    size.sum += std::abs(v[i]);
    size.norm += v[i] * product[i];
    size.longest = std::max(size.longest, recomputed_.lengths()[i]);
  }
  return size;
}

/// Whether the margins 1/‖β‖ ≤ √(vᵀKv)/Σ|vᵢ| of all classifiers are below the rounding error of K.
template <std::floating_point T>
bool BoxEvaluator<T>::Size::below_rounding(double error) const {
  const double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  return sum > 0 && norm + error <= rounding * (longest * sum) * (longest * sum);
}

template <std::floating_point T>
Proof BoxEvaluator<T>::proof_of(std::span<const double> v) {
  RecomputedProduct<T> recomputed(columns_, asymmetry_, excess_);
  recomputed.make_precise();
  std::vector<double> product(v.size());
  recomputed.compute(v, product, on_progress_);
  double error = 0;
  double squares = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    error += std::abs(v[i]) * (recomputed.error().at(i) + 4 * unit_rounding * std::abs(product[i]));
    squares += std::pow(recomputed.lengths()[i] * v[i], 2);
  }
  const Size size = size_of(v, product);
  if (size.norm + error < -excess_ * squares) return Proof::indefinite;
  return unbounded_ && size.below_rounding(error) ? Proof::inseparable : Proof::none;
}

template <std::floating_point T>
bool BoxEvaluator<T>::may_be_inseparable(const BoxSolution& found) const {
  return unbounded_ && size_of(found.a, found.product).below_rounding(0);
}

template <std::floating_point T>
double BoxEvaluator<T>::gradient_noise(std::span<const double> a) const {
  const std::span<const double> lengths = recomputed_.lengths();
  const double longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  double squares = 0;
  double own = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += std::pow(a[i] * lengths[i] * longest, 2);
    own = std::max(own, std::abs(a[i]) * lengths[i] * lengths[i]);
  }
  return precise() ? unit_rounding * own : 8 * unit_rounding * std::sqrt(squares);
}

template class BoxEvaluator<float>;
template class BoxEvaluator<double>;

}  // namespace widelimit
