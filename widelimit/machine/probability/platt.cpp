#include "widelimit/machine/probability/platt.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Negative log-likelihood Σ log(1 + e^z) − (1 − t)z with z = slope·g + offset.
double loss_at(const Sigmoid& s, std::span<const double> g, std::span<const double> targets) {
  double sum = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double z = s.slope * g[i] + s.offset;
    sum += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) - (1 - targets[i]) * z;
  }
  return sum;
}

/// Gradient and curvature in (slope, offset).
struct Local {
  double by_slope = 0, by_offset = 0;
  double slope_slope = 0, slope_offset = 0, offset_offset = 0;
};

Local local_at(const Sigmoid& s, std::span<const double> g, std::span<const double> targets) {
  Local local;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double p = s.probability(g[i]);
    const double residual = targets[i] - p;
    // p(1 − p) without the cancellation of 1 − p.
    const double e = std::exp(-std::abs(s.slope * g[i] + s.offset));
    const double curvature = e / ((1 + e) * (1 + e));
    local.by_slope += residual * g[i];
    local.by_offset += residual;
    local.slope_slope += curvature * g[i] * g[i];
    local.slope_offset += curvature * g[i];
    local.offset_offset += curvature;
  }
  return local;
}

std::vector<double> smoothed_targets(std::span<const double> labels) {
  const auto positive = static_cast<double>(std::count(labels.begin(), labels.end(), 1.0));
  const double negative = static_cast<double>(labels.size()) - positive;
  std::vector<double> targets;
  for (const double y : labels) targets.push_back(y > 0 ? (positive + 1) / (positive + 2) : 1 / (negative + 2));
  return targets;
}

}  // namespace

double Sigmoid::probability(double g) const {
  const double z = slope * g + offset;
  const double e = std::exp(-std::abs(z));
  return (z >= 0 ? e : 1.0) / (1 + e);
}

Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const double> labels) {
  if (decisions.size() != labels.size()) {
    fail(Code::input, "there are {} decisions for {} labels", decisions.size(), labels.size());
  }
  if (labels.empty()) fail(Code::input, "there are no decisions to fit probabilities to");
  check_signs(labels);
  double largest = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (!std::isfinite(decisions[i])) fail(Code::input, "decision {} is {}", i, decisions[i]);
    largest = std::max(largest, std::abs(decisions[i]));
  }
  // Scaled by the largest decision, so that both parameters have similar magnitude.
  const double unit = largest > 0 ? largest : 1;
  std::vector<double> g(decisions.begin(), decisions.end());
  for (double& value : g) value /= unit;
  const std::vector<double> targets = smoothed_targets(labels);
  const auto positive = static_cast<double>(std::count(labels.begin(), labels.end(), 1.0));
  Sigmoid s{0, std::log((static_cast<double>(labels.size()) - positive + 1) / (positive + 1))};
  double loss = loss_at(s, g, targets);
  constexpr int most_steps = 200;
  for (int step = 0; step < most_steps; ++step) {
    const Local local = local_at(s, g, targets);
    if (std::max(std::abs(local.by_slope), std::abs(local.by_offset)) <= 1e-12 * static_cast<double>(g.size())) break;
    const double ridge = 1e-12 * (local.slope_slope + local.offset_offset) + 1e-300;
    const double a = local.slope_slope + ridge;
    const double c = local.offset_offset + ridge;
    const double determinant = a * c - local.slope_offset * local.slope_offset;
    const double d_slope = -(c * local.by_slope - local.slope_offset * local.by_offset) / determinant;
    const double d_offset = -(a * local.by_offset - local.slope_offset * local.by_slope) / determinant;
    const double along = local.by_slope * d_slope + local.by_offset * d_offset;
    double length = 1;
    Sigmoid next = s;
    double lower = loss;
    for (; length > 1e-10; length /= 2) {
      next = {s.slope + length * d_slope, s.offset + length * d_offset};
      lower = loss_at(next, g, targets);
      if (lower <= loss + 1e-4 * length * along) break;
    }
    if (!(lower < loss)) break;
    s = next;
    loss = lower;
  }
  return {s.slope / unit, s.offset};
}

}  // namespace widelimit
