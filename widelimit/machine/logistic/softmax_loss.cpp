#include "widelimit/machine/logistic/softmax_loss.hpp"

#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

/// Computes π of one sample with label y; returns log Σe^h − h_y. Small values of both keep full relative precision.
double soften(const double* h, Index classes, Index y, double* pi) {
  const double* top = std::max_element(h, h + classes);
  double rest = 0;  // sum without the largest term, which is 1
  for (Index c = 0; c < classes; ++c) {
    pi[c] = std::exp(h[c] - *top);
    if (h + c != top) rest += pi[c];
  }
  for (Index c = 0; c < classes; ++c) pi[c] /= 1 + rest;
  return std::log1p(rest) + (*top - h[y]);
}

/// Returns 1 − π_y without cancellation.
double others(const double* pi, Index classes, Index y) {
  double sum = 0;
  for (Index c = 0; c < classes; ++c) sum += c == y ? 0.0 : pi[c];
  return sum;
}

}  // namespace

SoftmaxLosses::SoftmaxLosses(std::span<const Index> labels, Index classes, std::span<const double> weights)
    : y_(labels.begin(), labels.end()), classes_(classes), w_(weights.begin(), weights.end()) {
  if (w_.empty()) w_.assign(y_.size(), 1.0);
}

double SoftmaxLosses::loss_of(Index sample, const double* h) const {
  std::vector<double> pi(static_cast<std::size_t>(classes_));
  return soften(h, classes_, y_[static_cast<std::size_t>(sample)], pi.data());
}

double SoftmaxLosses::value(const Matrix<double>& h) const {
  std::vector<double> pi(static_cast<std::size_t>(classes_));
  double sum = 0;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    sum += w_[i] * soften(h.view().row(static_cast<Index>(i)), classes_, y_[i], pi.data());
  }
  return sum;
}

void SoftmaxLosses::derivatives(const Matrix<double>& h, Matrix<double>& pi, Matrix<double>& r) const {
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const auto at = static_cast<Index>(i);
    double* p = pi.view().row(at);
    (void)soften(h.view().row(at), classes_, y_[i], p);
    for (Index c = 0; c < classes_; ++c) r(at, c) = w_[i] * (c == y_[i] ? others(p, classes_, c) : -p[c]);
  }
}

void SoftmaxLosses::curve(const Matrix<double>& pi, Matrix<double>& v) const {
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const double* p = pi.view().row(static_cast<Index>(i));
    double* to = v.view().row(static_cast<Index>(i));
    // Differences to the entry of the label avoid cancellation if its probability is near 1.
    const double own = to[y_[i]];
    double mean = 0;
    for (Index c = 0; c < classes_; ++c) mean += p[c] * (to[c] - own);
    double sum = 0;
    for (Index c = 0; c < classes_; ++c) {
      to[c] = w_[i] * p[c] * (to[c] - own - mean);
      sum += c == y_[i] ? 0.0 : to[c];
    }
    to[y_[i]] = -sum;
  }
}

std::vector<double> SoftmaxLosses::curvature(const Matrix<double>& pi, Index c, Index d) const {
  std::vector<double> result(y_.size());
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const double* p = pi.view().row(static_cast<Index>(i));
    result[i] = w_[i] * p[c] * (c == d ? others(p, classes_, c) : -p[d]);
  }
  return result;
}

Slice SoftmaxLosses::slice(const Matrix<double>& h, const Matrix<double>& change, double t) const {
  Slice at;
  std::vector<double> moved(static_cast<std::size_t>(classes_));
  std::vector<double> pi(moved.size());
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const double* from = h.view().row(static_cast<Index>(i));
    const double* by = change.view().row(static_cast<Index>(i));
    for (std::size_t c = 0; c < moved.size(); ++c) moved[c] = from[c] + t * by[c];
    at.value += w_[i] * soften(moved.data(), classes_, y_[i], pi.data());
    double mean = 0;
    for (std::size_t c = 0; c < moved.size(); ++c) mean += pi[c] * (by[c] - by[y_[i]]);
    at.slope += w_[i] * mean;
    for (std::size_t c = 0; c < moved.size(); ++c) {
      const double difference = by[c] - by[y_[i]] - mean;
      at.curvature += w_[i] * pi[c] * difference * difference;
    }
  }
  return at;
}

/// π ↦ (1 − θ)π + t with Σt = θ. With s_c = Σᵢ r_ic, N_c the weight of class c and N_c − s_c the weight that π assigns
/// to it, θ is the smallest value for which t_c = (s_c + θ(N_c − s_c))/Σw ≥ 0 for all c, for any s_c within its error.
double SoftmaxLosses::balance(Matrix<double>& pi, Matrix<double>& r, double eta) const {
  const auto k = static_cast<std::size_t>(classes_);
  std::vector<double> excess(k);
  std::vector<double> weight(k);
  double unknown = 0;
  for (std::size_t c = 0; c < k; ++c) {
    double size = 0;
    for (Index i = 0; i < samples(); ++i) {
      excess[c] += r(i, static_cast<Index>(c));
      size += std::abs(r(i, static_cast<Index>(c)));
    }
    unknown = std::max(unknown, (eta > 0 ? eta + rounding_of(samples()) : 0) * size);
  }
  for (std::size_t i = 0; i < y_.size(); ++i) weight[static_cast<std::size_t>(y_[i])] += w_[i];
  double theta = 0;
  for (std::size_t c = 0; c < k; ++c) theta = std::max(theta, (unknown - excess[c]) / (weight[c] - excess[c]));
  theta = std::min(theta, 1.0);
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::vector<double> add(k);
  for (std::size_t c = 0; c < k; ++c) add[c] = std::max(0.0, (excess[c] + theta * (weight[c] - excess[c])) / total);
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const auto at = static_cast<Index>(i);
    double* p = pi.view().row(at);
    for (std::size_t c = 0; c < k; ++c) p[c] = (1 - theta) * p[c] + add[c];
    for (Index c = 0; c < classes_; ++c) r(at, c) = w_[i] * (c == y_[i] ? others(p, classes_, c) : -p[c]);
  }
  return 2 * unknown / total;
}

double SoftmaxLosses::entropy(const Matrix<double>& pi) const {
  double sum = 0;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const double* p = pi.view().row(static_cast<Index>(i));
    const double rest = others(p, classes_, y_[i]);
    for (Index c = 0; c < classes_; ++c) {
      if (c != y_[i] && p[c] > 0) sum -= w_[i] * p[c] * std::log(p[c]);
    }
    if (p[y_[i]] > 0 && rest < 1) sum -= w_[i] * p[y_[i]] * (rest < 0.5 ? std::log1p(-rest) : std::log(p[y_[i]]));
  }
  return sum;
}

}  // namespace widelimit
