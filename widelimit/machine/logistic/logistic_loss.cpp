#include "widelimit/machine/logistic/logistic_loss.hpp"

#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

LogisticLosses::LogisticLosses(std::span<const double> labels, std::span<const double> weights)
    : y_(labels.begin(), labels.end()), w_(weights.begin(), weights.end()) {
  if (w_.empty()) w_.assign(y_.size(), 1.0);
}

double LogisticLosses::value(const std::vector<double>& h, double bias) const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) sum += w_[i] * logistic_loss(y_[i] * (h[i] + bias));
  return sum;
}

void LogisticLosses::derivatives(const std::vector<double>& h, double bias, std::vector<double>& r,
                                 std::vector<double>& d) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const double m = y_[i] * (h[i] + bias);
    const double p = logistic_tail(m);
    r[i] = w_[i] * y_[i] * p;
    d[i] = w_[i] * p * logistic_tail(-m);
  }
}

Slice LogisticLosses::slice(const std::vector<double>& h, double bias, const std::vector<double>& change,
                            double bias_change, double t) const {
  Slice at;
  for (std::size_t i = 0; i < size(); ++i) {
    const double by = change[i] + bias_change;
    const double m = y_[i] * (h[i] + bias + t * by);
    const double p = logistic_tail(m);
    at.value += w_[i] * logistic_loss(m);
    at.slope -= w_[i] * y_[i] * p * by;
    at.curvature += w_[i] * p * logistic_tail(-m) * by * by;
  }
  return at;
}

std::vector<double> LogisticLosses::balanced(std::vector<double> r) const {
  double side[2]{};
  for (std::size_t i = 0; i < size(); ++i) side[y_[i] > 0 ? 1 : 0] += std::fabs(r[i]);
  const double smaller = std::min(side[0], side[1]);
  for (std::size_t i = 0; i < size(); ++i) {
    const double whole = side[y_[i] > 0 ? 1 : 0];
    if (whole > smaller) r[i] *= smaller / whole;
  }
  return r;
}

double LogisticLosses::entropy(const std::vector<double>& r) const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const double a = std::fabs(r[i]);
    if (a > 0 && a < w_[i]) sum -= a * std::log(a / w_[i]) + (w_[i] - a) * std::log1p(-a / w_[i]);
  }
  return sum;
}

DualPoint LogisticLosses::point_of(const std::vector<double>& a, const Matrix<double>& outputs, bool bias) const {
  DualPoint point{.r = Matrix<double>(static_cast<Index>(size()), 1), .weight = w_, .curvature = 0.125};
  CompensatedSum side[2];
  for (std::size_t i = 0; i < size(); ++i) side[y_[i] > 0 ? 1 : 0].add(a[i]);
  const double sums[2]{side[0].value(), side[1].value()};
  const double smaller = std::min(sums[0], sums[1]);
  // Σr = 0 holds exactly for factors within a few roundings of these.
  const double eta = 16 * unit_rounding;
  point.relative = eta;
  for (std::size_t i = 0; i < size(); ++i) {
    const double m = y_[i] * outputs.data()[i];
    const double whole = sums[y_[i] > 0 ? 1 : 0];
    const double dropped = bias && whole > smaller ? (whole - smaller) / whole : 0.0;
    const double kept = a[i] * (bias && whole > smaller ? smaller / whole : 1.0);
    const double p = logistic_tail(m);
    const double other = logistic_tail(-m);
    const double q = w_[i] > 0 ? kept / w_[i] : 0;
    // 1 − q without cancellation if q is close to p and p close to 1.
    const bool at_output = a[i] == w_[i] * p;
    const double rest = at_output ? other + p * dropped : std::max(0.0, 1 - q);
    point.r(static_cast<Index>(i), 0) = y_[i] * kept;
    point.loss.push_back(w_[i] * logistic_loss(m));
    point.loss_error.push_back(eta * point.loss.back());
    point.steepness.push_back(w_[i] * p * (1 + eta));
    point.deviation.push_back(w_[i] * (std::abs(q - p) + eta * (q + p)));
    point.gap.push_back(w_[i] * (divergence_term(q, p, -logistic_loss(-m), eta) +
                                 divergence_term(rest, other, -logistic_loss(m), eta, at_output ? 0 : eta * q)));
  }
  return point;
}

DualPoint LogisticLosses::dual_point(const Matrix<double>& outputs, bool bias) const {
  std::vector<double> a(size());
  for (std::size_t i = 0; i < size(); ++i) a[i] = w_[i] * logistic_tail(y_[i] * outputs.data()[i]);
  return point_of(a, outputs, bias);
}

std::optional<DualPoint> LogisticLosses::dual_point_near(const Matrix<double>& multipliers,
                                                         const Matrix<double>& outputs, bool bias) const {
  std::vector<double> a(size());
  for (std::size_t i = 0; i < size(); ++i) a[i] = std::clamp(y_[i] * multipliers.data()[i], 0.0, w_[i]);
  return point_of(a, outputs, bias);
}

}  // namespace widelimit
