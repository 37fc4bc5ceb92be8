#include "widelimit/machine/svm/face.hpp"

#include "widelimit/engine/host/host.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace widelimit {

namespace {

/// A pivot below this fraction of the diagonal of the factorised matrix, or of that of Q, is rounding; dividing by it
/// would make the step arbitrary.
constexpr double rounded_pivot = 1e-13;
constexpr double rounded_entry = 1e-14;
/// A pivot below the negative threshold by this factor indicates a direction of negative curvature of Q.
constexpr double curvature_factor = 1e3;
/// A slope along a combination below this fraction of its terms is rounding.
constexpr double rounded_slope = 1e-11;
/// Block size of the factorisation; the trailing matrix is updated by matrix products.
constexpr Index block_rows = 48;

double squared(std::span<const double> v) { return host::dot(v, v); }

}  // namespace

MatrixView<double> Face::open(Index size) {
  size_ = size;
  if (entries_.size() < usize(size * size)) entries_.resize(usize(size * size));
  return {entries_.data(), size, size, size};
}

void Face::factorise(bool equality) {
  equality_ = equality;
  negative_pivot_ = -1;
  own_.resize(usize(size_));
  least_.resize(usize(size_));
  state_.assign(usize(size_), State::moves);
  for (Index i = 0; i < size_; ++i) {
    own_[usize(i)] = row(i)[i];
    least_[usize(i)] = rounded_pivot * row(i)[i];
  }
  if (equality) centre();
  const MatrixView<double> all{entries_.data(), size_, size_, size_};
  for (Index begin = equality ? 1 : 0; begin < size_; begin += block_rows) {
    const Index rows = std::min(block_rows, size_ - begin);
    const Index rest = size_ - begin - rows;
    factor_rows(begin, begin + rows);
    if (rest == 0) break;
    const MatrixView<double> right = all.block(begin, begin + rows, rows, rest);
    host::solve_left(all.block(begin, begin, rows, rows), right);
    for (Index i = begin; i < begin + rows; ++i) {
      if (!moves(i)) std::fill_n(row(i) + begin + rows, rest, 0.0);
    }
    host::subtract_inner_product(right, all.block(begin + rows, begin + rows, rest, rest));
  }
  const auto f = static_cast<double>(size_);
  work_ += f * f * f / 24 + 6 * f * f;
}

/// Writes the upper triangle of PᵀQP without its first row, which is 0, and √c·1ᵀ as the first row of the factor.
void Face::centre() {
  const std::vector<double> first(row(0), row(0) + size_);
  double sum = 0;
  for (Index i = 1; i < size_; ++i) {
    double* entries = row(i);
    const double shift = first[0] - first[usize(i)];
    for (Index j = i; j < size_; ++j) entries[j] += shift - first[usize(j)];
    sum += std::max(entries[i], 0.0);
    least_[usize(i)] = std::max(rounded_pivot * entries[i], rounded_entry * (own_[usize(i)] + own_[0]));
  }
  const double mean = sum / static_cast<double>(std::max<Index>(size_ - 1, 1));
  std::fill_n(row(0), size_, std::sqrt(mean > 0 ? mean : 1.0));
}

/// Factorises the triangle of rows begin … end − 1. A resting row becomes that of the identity, for the solve to its
/// right.
void Face::factor_rows(Index begin, Index end) {
  for (Index k = begin; k < end; ++k) {
    double* pivot_row = row(k);
    const double pivot = pivot_row[k];
    if (!(pivot > least_[usize(k)])) {
      if (pivot < -curvature_factor * least_[usize(k)] && negative_pivot_ < 0) negative_pivot_ = k;
      state_[usize(k)] = State::rests;
      std::fill_n(pivot_row + k, end - k, 0.0);
      pivot_row[k] = 1;
      continue;
    }
    const double root = std::sqrt(pivot);
    pivot_row[k] = root;
    for (Index j = k + 1; j < end; ++j) pivot_row[j] /= root;
    for (Index i = k + 1; i < end; ++i) {
      double* entries = row(i);
      const double by = pivot_row[i];
      for (Index j = i; j < end; ++j) entries[j] -= by * pivot_row[j];
    }
  }
}

void Face::solve_forward(std::span<double> b) const {
  for (Index i = 0; i < size_; ++i) {
    if (!moves(i)) continue;
    double& value = b[usize(i)];
    value /= row(i)[i];
    if (value != 0) host::axpy(-value, right_of(i), b.subspan(usize(i + 1)));
  }
}

void Face::solve_back(std::span<double> y) const {
  for (Index i = size_ - 1; i >= 0; --i) {
    double& value = y[usize(i)];
    value = moves(i) ? (value - host::dot(right_of(i), y.subspan(usize(i + 1)))) / row(i)[i] : 0;
  }
}

void Face::still(std::span<double> y) const {
  for (Index i = 0; i < size_; ++i) {
    if (!moves(i)) y[usize(i)] = 0;
  }
}

bool Face::level(std::span<double> y, double sum) const {
  std::vector<double> ones(usize(size_), 1.0);
  solve_forward(ones);
  still(ones);
  const double length = squared(ones);
  if (!(length > 0)) return false;
  host::axpy(-(host::dot(y, ones) + sum) / length, ones, y);
  return true;
}

Index Face::steepest_combination(std::span<const double> slope, std::span<const double> y) const {
  if (negative_pivot_ >= 0) return negative_pivot_;
  if (std::find(state_.begin(), state_.end(), State::rests) == state_.end()) return -1;
  double squares = 0;
  for (Index i = 0; i < size_; ++i) squares += moves(i) ? y[usize(i)] * y[usize(i)] : 0;
  Index steepest = -1;
  double most = 0;
  for (Index i = 0; i < size_; ++i) {
    if (state_[usize(i)] != State::rests) continue;
    const double square = own_[usize(i)] + (equality_ ? own_[0] : 0);
    const double noise = rounded_slope * (std::abs(slope[usize(i)]) + std::sqrt(square * squares));
    const double merit = y[usize(i)] * y[usize(i)] / std::max(square, std::numeric_limits<double>::min());
    if (std::abs(y[usize(i)]) <= noise || merit <= most) continue;
    steepest = i;
    most = merit;
  }
  return steepest;
}

/// Returns the direction of variable k and its compensation by earlier variables.
FaceDirection Face::along_combination(Index k, double sign) const {
  FaceDirection direction;
  direction.flat = true;
  direction.by.assign(usize(size_), 0.0);
  for (Index i = 0; i < k; ++i) {
    if (moves(i)) direction.by[usize(i)] = -sign * row(i)[k];
  }
  if (equality_ && !level(direction.by, sign)) return {};
  solve_back(direction.by);
  direction.by[usize(k)] = sign;
  return direction;
}

FaceDirection Face::direction(std::span<const double> slope) {
  std::vector<double> y(usize(size_));
  for (Index i = 0; i < size_; ++i) y[usize(i)] = state_[usize(i)] == State::left ? 0 : -slope[usize(i)];
  solve_forward(y);
  work_ += 2 * static_cast<double>(size_) * static_cast<double>(size_);
  FaceDirection direction;
  if (const Index k = steepest_combination(slope, y); k >= 0) {
    direction = along_combination(k, y[usize(k)] < 0 ? -1 : 1);
  } else {
    still(y);
    if (equality_ && !level(y, 0)) return {};
    direction.change.assign(usize(size_), 0.0);
    for (Index i = 0; i < size_; ++i) {
      if (!moves(i)) continue;
      direction.change[usize(i)] += y[usize(i)] * row(i)[i];
      host::axpy(y[usize(i)], right_of(i), std::span(direction.change).subspan(usize(i + 1)));
    }
    solve_back(y);
    direction.by = std::move(y);
  }
  const bool finite = std::all_of(direction.by.begin(), direction.by.end(), [](double d) { return std::isfinite(d); });
  const double along = std::inner_product(direction.by.begin(), direction.by.end(), slope.begin(), 0.0);
  if (!finite || !(along < 0)) return {};
  return direction;
}

void Face::remove(Index k) {
  negative_pivot_ = -1;
  const State before = std::exchange(state_[usize(k)], State::left);
  if (before != State::moves) return;
  std::vector<double> taken(row(k), row(k) + size_);  // the removed row, rotated into those below
  work_ += static_cast<double>(size_ - k) * static_cast<double>(size_ - k);
  for (Index i = k + 1; i < size_; ++i) {
    const double by = taken[usize(i)];
    if (state_[usize(i)] == State::left || by == 0) continue;
    const std::span<double> rest = std::span(taken).subspan(usize(i + 1));
    double* entries = row(i);
    if (state_[usize(i)] == State::rests) {
      if (by * by <= least_[usize(i)]) continue;
      state_[usize(i)] = State::moves;
      entries[i] = std::abs(by);
      std::transform(rest.begin(), rest.end(), entries + i + 1, [&](double value) { return by < 0 ? -value : value; });
      return;
    }
    const double length = std::hypot(entries[i], by);
    host::rotate(entries[i] / length, by / length, {entries + i + 1, rest.size()}, rest);
    entries[i] = length;
  }
}

bool Face::curves_down(std::span<const double> v, double excess) const {
  double curvature = 0;
  double squares = 0;
  double parts = 0;
  for (Index i = 0; i < size_; ++i) {
    const double own = v[usize(i)] * v[usize(i)] * own_[usize(i)];
    squares += own;
    curvature += own;
    parts += std::abs(own);
    for (Index j = 0; j < i; ++j) {
      const double term = 2 * v[usize(i)] * row(i)[j] * v[usize(j)];
      curvature += term;
      parts += std::abs(term);
    }
  }
  return curvature < -2 * (excess * squares + rounding_of(size_ * size_) * parts);
}

}  // namespace widelimit
