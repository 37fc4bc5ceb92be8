#include "widelimit/finite/training/loss.hpp"

#include "widelimit/base/choice.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 6> loss_names{"squared",     "hinge",    "squared-hinge",
                                                     "insensitive", "logistic", "softmax"};

/// log Σ e^{z_k − max z} and max z.
struct LogSum {
  double top;
  double log;
};
LogSum log_sum(std::span<const double> z) {
  const double top = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (const double value : z) sum += std::exp(value - top);
  return {top, std::log(sum)};
}

[[noreturn]] void refuse_softmax() {
  fail(Code::usage, "the softmax loss is defined for all outputs of a sample, not for one");
}

}  // namespace

double logistic_loss(double m) { return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m; }

double logistic_tail(double m) {
  const double e = std::exp(-std::fabs(m));
  return m > 0 ? e / (1 + e) : 1 / (1 + e);
}

std::string_view to_string(LossKind kind) { return loss_names[static_cast<std::size_t>(kind)]; }
LossKind parse_loss(std::string_view text) { return parse_choice<LossKind>("loss", loss_names, text); }

bool has_margin(LossKind kind) {
  return kind == LossKind::hinge || kind == LossKind::squared_hinge || kind == LossKind::logistic;
}

std::optional<double> largest_curvature(LossKind kind) {
  switch (kind) {
    case LossKind::squared:
    case LossKind::squared_hinge:
      return 2.0;
    case LossKind::logistic:
      return 0.25;
    case LossKind::softmax:
      return 0.5;
    case LossKind::hinge:
    case LossKind::insensitive:
      break;
  }
  return std::nullopt;
}

void Loss::validate() const {
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) fail(Code::usage, "epsilon must be 0 or more, not {}", epsilon);
}

double loss_value(const Loss& loss, double z, double y) {
  switch (loss.kind) {
    case LossKind::squared:
      return (y - z) * (y - z);
    case LossKind::hinge:
      return std::max(1 - y * z, 0.0);  // in this order NaN stays NaN
    case LossKind::squared_hinge: {
      const double short_of = std::max(1 - y * z, 0.0);
      return short_of * short_of;
    }
    case LossKind::insensitive:
      return std::max(std::fabs(y - z) - loss.epsilon, 0.0);
    case LossKind::logistic:
      return logistic_loss(y * z);
    case LossKind::softmax:
      break;
  }
  refuse_softmax();
}

double loss_slope(const Loss& loss, double z, double y) {
  switch (loss.kind) {
    case LossKind::squared:
      return 2 * (z - y);
    case LossKind::hinge:
      return y * z < 1 ? -y : 0;
    case LossKind::squared_hinge:
      return -2 * y * std::max(0.0, 1 - y * z);
    case LossKind::insensitive:
      return z > y + loss.epsilon ? 1 : z < y - loss.epsilon ? -1 : 0;
    case LossKind::logistic:
      return -y * logistic_tail(y * z);
    case LossKind::softmax:
      break;
  }
  refuse_softmax();
}

double loss_value(const Loss& loss, std::span<const double> z, std::span<const double> y) {
  double sum = 0;
  if (loss.kind == LossKind::softmax) {
    const auto [top, log] = log_sum(z);
    for (std::size_t k = 0; k < z.size(); ++k) sum += y[k] * (log - (z[k] - top));
    return sum;
  }
  for (std::size_t k = 0; k < z.size(); ++k) sum += loss_value(loss, z[k], y[k]);
  return sum;
}

void loss_slopes(const Loss& loss, std::span<const double> z, std::span<const double> y, std::span<double> slope) {
  if (loss.kind == LossKind::softmax) {
    const auto [top, log] = log_sum(z);
    for (std::size_t k = 0; k < z.size(); ++k) slope[k] = std::exp(z[k] - top - log) - y[k];
    return;
  }
  for (std::size_t k = 0; k < z.size(); ++k) slope[k] = loss_slope(loss, z[k], y[k]);
}

}  // namespace widelimit
