#include "widelimit/machine/ridge/projected_bfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Armijo constant: required fraction of the predicted decrease.
constexpr double enough_decrease = 1e-4;
constexpr int most_shortenings = 40;
/// Relative difference below which two objective values count as equal.
constexpr double value_rounding = 4 * std::numeric_limits<double>::epsilon();

double scalar_product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest_modulus(std::span<const double> a) {
  double largest = 0;
  for (const double entry : a) largest = std::max(largest, std::abs(entry));
  return largest;
}

class ProjectedBfgs {
 public:
  ProjectedBfgs(const BoxObjective& objective, const BfgsOptions& options, std::vector<double> start)
      : objective_(objective), options_(options), size_(start.size()), x_(std::move(start)) {}

  std::optional<BoxMinimum> run() {
    project(x_);
    std::optional<ObjectiveAt> first = objective_(x_, true);
    if (!first) return std::nullopt;
    BoxMinimum result;
    result.first_value = first->value;
    now_ = std::move(*first);
    reset_curvature();
    while (true) {
      find_free();
      result.projected_gradient = largest_modulus(masked(now_.gradient));
      result.converged = result.projected_gradient <= options_.tolerance;
      if (result.converged || result.iterations == options_.max_iterations) break;
      if (!step()) {
        result.stalled = true;
        break;
      }
      ++result.iterations;
    }
    result.x = x_;
    result.value = now_.value;
    result.gradient = now_.gradient;
    return result;
  }

 private:
  void project(std::vector<double>& x) const {
    for (std::size_t i = 0; i < size_; ++i) x[i] = std::clamp(x[i], options_.lower[i], options_.upper[i]);
  }

  /// A variable at a bound is free if the objective decreases away from the bound.
  void find_free() {
    free_.assign(size_, true);
    for (std::size_t i = 0; i < size_; ++i) {
      const double slope = now_.gradient[i];
      if ((x_[i] <= options_.lower[i] && slope > 0) || (x_[i] >= options_.upper[i] && slope < 0)) free_[i] = false;
    }
  }

  [[nodiscard]] std::vector<double> masked(std::vector<double> v) const {
    for (std::size_t i = 0; i < size_; ++i) v[i] = free_[i] ? v[i] : 0.0;
    return v;
  }

  /// Resets the inverse Hessian so that the next step has length 1.
  void reset_curvature() {
    const double length = std::sqrt(scalar_product(now_.gradient, now_.gradient));
    set_identity(length > 0 ? 1 / length : 1.0);
    known_curvature_ = false;
  }

  void set_identity(double scale) {
    inverse_.assign(size_ * size_, 0.0);
    for (std::size_t i = 0; i < size_; ++i) inverse_[i * size_ + i] = scale;
  }

  [[nodiscard]] std::vector<double> times_inverse(const std::vector<double>& v) const {
    std::vector<double> result(size_);
    for (std::size_t i = 0; i < size_; ++i) result[i] = scalar_product({&inverse_[i * size_], size_}, v);
    return masked(std::move(result));
  }

  /// Returns false if no decrease is found along the direction nor along the negative gradient.
  bool step() {
    if (search()) return true;
    if (!known_curvature_) return false;
    reset_curvature();
    return search();
  }

  bool search() {
    const std::vector<double> slope = masked(now_.gradient);
    std::vector<double> direction = times_inverse(slope);
    const double longest = largest_modulus(direction);
    const double shrink = -std::min(1.0, options_.longest_step / longest);
    for (double& entry : direction) entry *= shrink;
    double length = 1;
    for (int k = 0; k < most_shortenings; ++k) {
      std::vector<double> to(x_);
      for (std::size_t i = 0; i < size_; ++i) to[i] += length * direction[i];
      project(to);
      double expected_change = 0;
      for (std::size_t i = 0; i < size_; ++i) expected_change += slope[i] * (to[i] - x_[i]);
      if (!(expected_change < 0)) return false;
      const std::optional<ObjectiveAt> there = objective_(to, false);
      const double allowed = now_.value + enough_decrease * expected_change + value_rounding * std::abs(now_.value);
      if (there && there->value <= allowed) {
        std::optional<ObjectiveAt> next = objective_(to, true);
        if (next) {
          move(std::move(to), std::move(*next));
          return true;
        }
      }
      length *= there ? shorter(there->value - now_.value, expected_change) : 0.25;
    }
    return false;
  }

  /// Minimiser of the parabola through both values and the slope, clamped to [0.1, 0.5].
  static double shorter(double rise, double expected_change) {
    return std::clamp(-expected_change / (2 * (rise - expected_change)), 0.1, 0.5);
  }

  /// BFGS update over the free variables, so that the block of the inverse Hessian in use satisfies the secant
  /// condition.
  void move(std::vector<double> to, ObjectiveAt next) {
    std::vector<double> s(size_);
    std::vector<double> y(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      s[i] = to[i] - x_[i];
      y[i] = next.gradient[i] - now_.gradient[i];
    }
    s = masked(std::move(s));
    y = masked(std::move(y));
    x_ = std::move(to);
    now_ = std::move(next);
    const double curvature = scalar_product(s, y);
    if (!(curvature > 1e-10 * std::sqrt(scalar_product(s, s) * scalar_product(y, y)))) return;
    if (!known_curvature_) set_identity(curvature / scalar_product(y, y));
    known_curvature_ = true;
    const std::vector<double> hy = times_inverse(y);
    const double scale = (1 + scalar_product(y, hy) / curvature) / curvature;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        inverse_[i * size_ + j] += scale * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / curvature;
      }
    }
  }

  const BoxObjective& objective_;
  const BfgsOptions& options_;
  std::size_t size_;
  std::vector<double> x_;
  ObjectiveAt now_;
  std::vector<bool> free_;
  std::vector<double> inverse_;  ///< inverse Hessian, row-major
  bool known_curvature_ = false;
};

}  // namespace

std::optional<BoxMinimum> minimise_in_box(const BoxObjective& objective, std::span<const double> start,
                                          const BfgsOptions& options) {
  return ProjectedBfgs(objective, options, {start.begin(), start.end()}).run();
}

}  // namespace widelimit
