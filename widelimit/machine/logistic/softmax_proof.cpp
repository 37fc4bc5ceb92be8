#include "widelimit/engine/host/host.hpp"
#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/logistic/softmax_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr int most_bias_steps = 30;
/// Largest bound of the distance to the best bias for which the bound is valid; see near_best.
constexpr double farthest_bias = 0.07;

/// Relative rounding error of an entry of r, which is a sum over classes.
double sum_of_classes(Index classes) { return (16 + 4 * static_cast<double>(classes)) * unit_rounding; }

/// Returns the outputs with a constant added per column.
Matrix<double> shifted(const Matrix<double>& outputs, const std::vector<double>& by) {
  Matrix<double> result(outputs.rows(), outputs.cols(), Content::unset);
  for (Index i = 0; i < outputs.rows(); ++i) {
    for (Index c = 0; c < outputs.cols(); ++c) result(i, c) = outputs(i, c) + by[usize(c)];
  }
  return result;
}

/// Σ l as a function of the bias: gradient −s, Hessian H = Σ w(diag π − ππᵀ), whose null space is the common bias.
class BiasProblem {
 public:
  BiasProblem(const SoftmaxLosses& losses, const Matrix<double>& pi, const Matrix<double>& r)
      : s_(usize(losses.classes())), absolute_sums_(s_.size()), hessian_(losses.classes(), losses.classes()) {
    const Index k = losses.classes();
    std::vector<CompensatedSum> sums(s_.size());
    for (Index i = 0; i < r.rows(); ++i) {
      for (Index c = 0; c < k; ++c) {
        sums[usize(c)].add(r(i, c));
        absolute_sums_[usize(c)] += std::abs(r(i, c));
      }
    }
    for (std::size_t c = 0; c < s_.size(); ++c) s_[c] = sums[c].value();
    double trace = 0;
    for (Index c = 0; c < k; ++c) {
      for (Index d = c; d < k; ++d) {
        for (const double part : losses.curvature(pi, c, d)) hessian_(c, d) += part;
      }
      trace += hessian_(c, c);
    }
    for (Index c = 0; c < k; ++c) {
      for (Index d = c; d < k; ++d) hessian_(c, d) += trace / static_cast<double>(k);
    }
    factored_ = trace > 0 && host::cholesky(hessian_.view()) == 0;
  }

  /// Returns H⁻¹s; empty if H could not be factorised.
  [[nodiscard]] std::vector<double> step() const {
    if (!factored_) return {};
    std::vector<double> by = s_;
    host::solve_factored(hessian_.view(), by);
    return by;
  }

  /// Returns a bound of max |v|, where b + v is the best bias: with κ = max √(H⁻¹)_cc, |v| ≤ κ‖v‖_H, and D = ‖s‖_{H⁻¹},
  /// the derivative of Σ l along v is at least −Dρ + e^{−4κρ}ρ² at ‖v‖_H = ρ, since a bias of at most κρ changes no π
  /// by more than a factor e^{2κρ}; at ρ = 2D it is nonnegative if κD ≤ 0.08, so that the minimum lies inside. Infinite
  /// if the condition does not hold.
  [[nodiscard]] double near_best(double eta) const {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> by = step();
    if (by.empty()) return infinity;
    double kappa = 0;
    for (std::size_t c = 0; c < s_.size(); ++c) {
      std::vector<double> unit(s_.size());
      unit[c] = 1;
      host::solve_factored(hessian_.view(), unit);
      kappa = std::max(kappa, std::sqrt(std::max(0.0, unit[c])));
    }
    double square = 0;
    double error = 0;
    for (std::size_t c = 0; c < s_.size(); ++c) {
      square += std::abs(s_[c] * by[c]);
      error += eta * absolute_sums_[c];
    }
    // Factor 2 for the rounding of H and its factor.
    const double distance = 2 * kappa * (std::sqrt(square) + kappa * error);
    return distance <= farthest_bias ? 2 * distance : infinity;
  }

 private:
  std::vector<double> s_;              ///< Σᵢ r_ic
  std::vector<double> absolute_sums_;  ///< Σᵢ |r_ic|
  Matrix<double> hessian_;             ///< Cholesky factor of H, with the common bias fixed
  bool factored_ = false;
};

/// Newton's method with step halving from the current bias; returns the change of the bias.
std::vector<double> bias_step(const SoftmaxLosses& losses, const Matrix<double>& outputs) {
  std::vector<double> shift(usize(losses.classes()));
  Matrix<double> pi(outputs.rows(), outputs.cols());
  Matrix<double> r(outputs.rows(), outputs.cols());
  double value = losses.value(outputs);
  for (int step = 0; step < most_bias_steps; ++step) {
    losses.derivatives(shifted(outputs, shift), pi, r);
    const std::vector<double> by = BiasProblem(losses, pi, r).step();
    if (by.empty()) break;
    double length = 1;
    std::vector<double> next(shift.size());
    double lower = value;
    for (; length > 1e-3; length /= 2) {
      for (std::size_t c = 0; c < shift.size(); ++c) next[c] = shift[c] + length * by[c];
      lower = losses.value(shifted(outputs, next));
      if (lower < value) break;
    }
    if (!(lower < value)) break;
    shift = next;
    value = lower;
  }
  return shift;
}

}  // namespace

void SoftmaxLosses::set_gaps(const Matrix<double>& outputs, const Matrix<double>& balanced, double eta,
                             double own_rounding, DualPoint& point) const {
  Matrix<double> pi(samples(), classes_);
  Matrix<double> unused(samples(), classes_);
  derivatives(outputs, pi, unused);
  point.relative = eta;
  point.weight = w_;
  point.curvature = 0.5;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const double* h = outputs.view().row(static_cast<Index>(i));
    const double* p = pi.view().row(static_cast<Index>(i));
    const double* q = balanced.view().row(static_cast<Index>(i));
    const double top = *std::max_element(h, h + classes_);
    const double loss = loss_of(static_cast<Index>(i), h);
    double gap = 0;
    double deviation = point.absolute * static_cast<double>(classes_);
    double others = 0;
    double moved = 0;
    for (Index c = 0; c < classes_; ++c) {
      const double log_p = h[c] - h[y_[i]] - loss;
      const double off = eta + 4 * unit_rounding * (top - h[c]);
      gap += divergence_term(q[c], p[c], log_p, off, point.absolute + (c == y_[i] ? own_rounding : 0));
      deviation += std::abs(q[c] - p[c]) + off * std::max(p[c], q[c]);
      others += c == y_[i] ? 0 : p[c];
      moved += (top - h[c]) * p[c];  // effect of rounding of h − top on the log-sum-exp
    }
    point.loss.push_back(w_[i] * loss);
    point.loss_error.push_back(w_[i] * (sum_of_classes(classes_) * loss + 2 * unit_rounding * moved));
    point.steepness.push_back(2 * w_[i] * others * (1 + eta));
    point.deviation.push_back(w_[i] * deviation);
    point.gap.push_back(w_[i] * gap);
  }
}

DualPoint SoftmaxLosses::dual_point(const Matrix<double>& outputs, bool bias) const {
  DualPoint point{.r = Matrix<double>(samples(), classes_)};
  Matrix<double> balanced(samples(), classes_);
  double eta = sum_of_classes(classes_);
  if (bias) {
    derivatives(shifted(outputs, bias_step(*this, outputs)), balanced, point.r);
    const double off = BiasProblem(*this, balanced, point.r).near_best(eta);
    if (std::isfinite(off)) {
      eta += std::expm1(2 * off);
    } else {
      point.absolute = balance(balanced, point.r, eta);
    }
  } else {
    derivatives(outputs, balanced, point.r);
  }
  set_gaps(outputs, balanced, eta, 0, point);
  return point;
}

std::optional<DualPoint> SoftmaxLosses::dual_point_near(const Matrix<double>& multipliers,
                                                        const Matrix<double>& outputs, bool bias) const {
  if (bias) return std::nullopt;
  DualPoint point{.r = Matrix<double>(samples(), classes_)};
  Matrix<double> balanced(samples(), classes_);
  for (Index i = 0; i < samples(); ++i) {
    const double weight = w_[usize(i)];
    const Index y = y_[usize(i)];
    double others = 0;
    for (Index c = 0; c < classes_; ++c) {
      if (c == y || !(weight > 0)) continue;
      balanced(i, c) = std::clamp(-multipliers(i, c) / weight, 0.0, 1.0);
      others += balanced(i, c);
    }
    const double most = std::max(others, 1.0);
    for (Index c = 0; c < classes_; ++c) {
      if (c != y) balanced(i, c) /= most;
      point.r(i, c) = weight * (c == y ? others / most : -balanced(i, c));
    }
    balanced(i, y) = 1 - others / most;
  }
  const double eta = sum_of_classes(classes_);
  set_gaps(outputs, balanced, eta, eta, point);  // 1 − Σ loses relative accuracy
  return point;
}

}  // namespace widelimit
