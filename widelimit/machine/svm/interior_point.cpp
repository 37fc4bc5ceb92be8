#include "widelimit/machine/svm/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// Fraction of the step to the nearest bound.
constexpr double towards_bound = 0.995;
/// Shorter steps make no progress.
constexpr double shortest_step = 1e-8;
/// A multiplier counts as 0 if it is smaller than its slope by this factor, both in scaled units.
constexpr double settled_ratio = 1e-3;

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Returns the largest t ≤ most for which values + t·by stays positive.
double reach(std::span<const double> values, std::span<const double> by, double most) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (by[j] < 0) most = std::min(most, -values[j] / by[j]);
  }
  return most;
}

}  // namespace

InteriorPoint::InteriorPoint(const BoxProblem& problem, const Algebra& algebra, EngineMatrix l)
    : problem_(problem), algebra_(algebra), l_(std::move(l)) {
  double bound = 0;
  for (Index i = 0; i < problem.size(); ++i) {
    const double ridge = problem.ridge_at(i);
    for (const double sign : {1.0, -1.0}) {
      const double cap = sign > 0 ? problem.upper[usize(i)] : -problem.lower[usize(i)];
      if (!(cap > 0)) continue;
      multipliers_.push_back({i, sign, cap, sign * problem.linear[usize(i)] + problem.epsilon, ridge});
      if (cap < no_bound) bound = std::max(bound, cap);
    }
  }
  slope_ = 0;
  double squares = 0;
  double ridges = 0;
  for (const Multiplier& one : multipliers_) {
    slope_ = std::max(slope_, std::abs(one.cost));
    ridges = std::max(ridges, one.ridge);
  }
  if (slope_ == 0) slope_ = 1;
  const std::vector<double> of_columns = algebra_.column_squares(l_, {});
  squares =
      std::accumulate(of_columns.begin(), of_columns.end(), 0.0) / static_cast<double>(std::max<Index>(l_.rows(), 1));
  unit_ = bound > 0 ? bound : slope_ / std::max(squares + ridges, std::numeric_limits<double>::min());
  factor_ = std::sqrt(unit_ / slope_);
  for (Multiplier& one : multipliers_) {
    one.cap /= unit_;
    one.cost /= slope_;
    one.ridge *= unit_ / slope_;
  }
  place_first();
}

/// Starts at the centre of the box, with bound multipliers that make it stationary.
void InteriorPoint::place_first() {
  const std::size_t count = multipliers_.size();
  at_.x.resize(count);
  at_.t.assign(count, 1.0);
  at_.z.assign(count, 0.0);
  at_.v.assign(count, 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    at_.x[j] = capped(j) ? multipliers_[j].cap / 2 : 0.5;
    if (capped(j)) at_.t[j] = at_.x[j];
    products_ += capped(j) ? 2 : 1;
  }
  update_derived();
  double mean = 0;
  for (const double slope : gradient_) mean += std::abs(slope) / static_cast<double>(count);
  const double least = 1 + mean / 10;
  for (std::size_t j = 0; j < count; ++j) {
    at_.z[j] = std::max(gradient_[j], 0.0) + least;
    if (capped(j)) at_.v[j] = std::max(-gradient_[j], 0.0) + least;
  }
  update_derived();
}

/// Returns Σ s·x per sample, for any quantity x of the multipliers.
std::vector<double> InteriorPoint::per_sample(std::span<const double> of_multipliers) const {
  std::vector<double> sums(usize(problem_.size()));
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    sums[usize(multipliers_[j].sample)] += multipliers_[j].sign * of_multipliers[j];
  }
  return sums;
}

std::vector<double> InteriorPoint::pull(std::span<const double> of_samples) const {
  std::vector<double> features(usize(l_.cols()));
  algebra_.multiply(Transpose::yes, l_, {of_samples.data(), l_.rows(), 1, 1}, {features.data(), l_.cols(), 1, 1});
  for (double& feature : features) feature *= factor_;
  return features;
}

std::vector<double> InteriorPoint::push(std::span<const double> features) const {
  std::vector<double> of_samples(usize(l_.rows()));
  algebra_.multiply(Transpose::no, l_, {features.data(), l_.cols(), 1, 1}, {of_samples.data(), l_.rows(), 1, 1});
  for (double& value : of_samples) value *= factor_;
  return of_samples;
}

/// Updates the quantities derived from the current iterate.
void InteriorPoint::update_derived() {
  const std::vector<double> a = per_sample(at_.x);
  const std::vector<double> w = pull(a);
  const std::vector<double> product = push(w);
  gradient_.resize(multipliers_.size());
  double objective = std::inner_product(w.begin(), w.end(), w.begin(), 0.0) / 2;
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    const Multiplier& one = multipliers_[j];
    gradient_[j] = one.sign * (product[usize(one.sample)] + at_.bias) + one.ridge * at_.x[j] + one.cost;
    objective += (one.cost + one.ridge * at_.x[j] / 2) * at_.x[j];
  }
  surplus_ = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum = complementarity({}, 0);
  mean_ = sum / static_cast<double>(std::max<Index>(products_, 1));
  gap_ = sum / std::max(std::abs(objective), std::numeric_limits<double>::min());
}

/// Returns Σ xz + Σ tv after a step of that length.
double InteriorPoint::complementarity(const Point& by, double length) const {
  double sum = 0;
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    const double dx = length == 0 ? 0 : length * by.x[j];
    const double dz = length == 0 ? 0 : length * by.z[j];
    sum += (at_.x[j] + dx) * (at_.z[j] + dz);
    if (!capped(j)) continue;
    const double dv = length == 0 ? 0 : length * by.v[j];
    sum += (at_.t[j] - dx) * (at_.v[j] + dv);
  }
  return sum;
}

bool InteriorPoint::factorise() {
  inverse_.resize(multipliers_.size());
  weights_.assign(usize(problem_.size()), 0.0);
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    const Multiplier& one = multipliers_[j];
    inverse_[j] = 1 / (one.ridge + at_.z[j] / at_.x[j] + (capped(j) ? at_.v[j] / at_.t[j] : 0));
    weights_[usize(one.sample)] += inverse_[j];
  }
  total_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  centre_ = pull(weights_);
  const Index rank = l_.cols();
  if (rank == 0) return std::isfinite(total_);
  std::vector<double> scaled = weights_;
  for (double& weight : scaled) weight *= factor_ * factor_;
  system_ = algebra_.allocate(rank, rank, Precision::f64);
  algebra_.inner_product(l_, scaled, true, *system_);
  Matrix<double> host(rank, rank, Content::unset);
  algebra_.read(*system_, host.view());
  for (Index i = 0; i < rank; ++i) {
    if (problem_.equality) {
      const double share = centre_[usize(i)] / total_;
      for (Index k = 0; k < rank; ++k) host(i, k) -= share * centre_[usize(k)];
    }
    host(i, i) += 1;
    if (!std::isfinite(host(i, i))) return false;
  }
  algebra_.write(host.view(), *system_);
  return algebra_.cholesky(*system_, nullptr) == 0;
}

InteriorPoint::Point InteriorPoint::direction(double target, const Point* before) const {
  const std::size_t count = multipliers_.size();
  std::vector<double> lower(count);  // target of xz minus second-order terms
  std::vector<double> upper(count);
  std::vector<double> slope(count);
  for (std::size_t j = 0; j < count; ++j) {
    lower[j] = target - (before != nullptr ? before->x[j] * before->z[j] : 0);
    upper[j] = target + (before != nullptr ? before->x[j] * before->v[j] : 0);
    slope[j] = inverse_[j] * (-gradient_[j] + lower[j] / at_.x[j] - (capped(j) ? upper[j] / at_.t[j] : 0));
  }
  const std::vector<double> moved = per_sample(slope);
  const double missing = std::accumulate(moved.begin(), moved.end(), 0.0) + surplus_;
  std::vector<double> w = pull(moved);
  Point by;
  if (problem_.equality) {
    for (std::size_t k = 0; k < w.size(); ++k) w[k] -= centre_[k] * (missing / total_);
  }
  if (l_.cols() > 0) algebra_.solve_factored(*system_, {w.data(), l_.cols(), 1, 1});
  if (problem_.equality) {
    by.bias = (missing - std::inner_product(centre_.begin(), centre_.end(), w.begin(), 0.0)) / total_;
  }
  const std::vector<double> product = push(w);
  by.x.resize(count);
  by.z.resize(count);
  by.v.assign(count, 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    const Multiplier& one = multipliers_[j];
    by.x[j] = slope[j] - inverse_[j] * one.sign * (product[usize(one.sample)] + by.bias);
    by.z[j] = (lower[j] - at_.z[j] * by.x[j]) / at_.x[j] - at_.z[j];
    if (capped(j)) by.v[j] = (upper[j] + at_.v[j] * by.x[j]) / at_.t[j] - at_.v[j];
  }
  return by;
}

/// Returns the step to the nearest bound along a direction, at most 1.
double InteriorPoint::feasible_step(const Point& by) const {
  double most = reach(at_.x, by.x, 1);
  most = reach(at_.z, by.z, most);
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    if (!capped(j)) continue;
    if (by.x[j] > 0) most = std::min(most, at_.t[j] / by.x[j]);
    if (by.v[j] < 0) most = std::min(most, -at_.v[j] / by.v[j]);
  }
  return most;
}

bool InteriorPoint::step() {
  if (multipliers_.empty() || !factorise()) return false;
  const Point affine = direction(0, nullptr);
  const double ahead = complementarity(affine, feasible_step(affine)) / static_cast<double>(products_);
  const double centring = std::pow(ahead / mean_, 3);
  const Point by = direction(centring * mean_, &affine);
  const double length = towards_bound * feasible_step(by);
  if (!(length > shortest_step) || !std::isfinite(by.bias) || !std::isfinite(largest_of(by.x))) return false;
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    at_.x[j] += length * by.x[j];
    at_.z[j] += length * by.z[j];
    if (!capped(j)) continue;
    at_.t[j] -= length * by.x[j];
    at_.v[j] += length * by.v[j];
  }
  at_.bias += length * by.bias;
  update_derived();
  return std::isfinite(gap_);
}

std::vector<double> InteriorPoint::coefficients() const {
  std::vector<double> x = at_.x;
  std::vector<double> free(x.size(), 0.0);  // distance to the nearest bound; 0 for those at a bound
  double surplus = 0;
  double freedom = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double cap = multipliers_[j].cap;
    const double length = settled_ratio * std::min(cap, 1.0);
    if (x[j] <= length * at_.z[j]) {
      x[j] = 0;
    } else if (capped(j) && at_.t[j] <= length * at_.v[j]) {
      x[j] = cap;
    } else {
      free[j] = std::min(x[j], at_.t[j]);
      if (!capped(j)) free[j] = x[j];
    }
    surplus += multipliers_[j].sign * x[j];
    freedom += free[j];
  }
  const double share = problem_.equality && freedom > 0 ? std::clamp(surplus / freedom, -1.0, 1.0) : 0;
  std::vector<double> a(usize(problem_.size()));
  for (std::size_t j = 0; j < x.size(); ++j) {
    const Multiplier& one = multipliers_[j];
    const double moved = x[j] - one.sign * share * free[j];
    a[usize(one.sample)] += one.sign * (x[j] == one.cap ? one.cap : moved) * unit_;
  }
  for (Index i = 0; i < problem_.size(); ++i) {
    const double bound = a[usize(i)] > 0 ? problem_.upper[usize(i)] : problem_.lower[usize(i)];
    // Scaling a bound by its unit and back may round it.
    const bool arrives = std::isfinite(bound) &&
                         std::abs(a[usize(i)] - bound) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(bound);
    a[usize(i)] = arrives ? bound : std::clamp(a[usize(i)], problem_.lower[usize(i)], problem_.upper[usize(i)]);
  }
  return a;
}

}  // namespace widelimit
