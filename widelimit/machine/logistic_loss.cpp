#include "widelimit/machine/logistic_loss.hpp"

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

}  // namespace widelimit
