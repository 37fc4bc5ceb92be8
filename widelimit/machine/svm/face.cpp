#include "widelimit/machine/svm/face.hpp"

#include "widelimit/engine/host/host.hpp"
#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/svm/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// With d_last = −Σ of the others: the quadratic form of the others alone.
Matrix<double> reduced(const Matrix<double>& q) {
  const Index last = q.rows() - 1;
  Matrix<double> r(last, last, Content::unset);
  for (Index i = 0; i < last; ++i) {
    for (Index j = 0; j < last; ++j) r(i, j) = q(i, j) - q(i, last) - q(last, j) + q(last, last);
  }
  return r;
}

Matrix<double> copy_of(const Matrix<double>& q, Index size) {
  Matrix<double> result(size, size, Content::unset);
  for (Index i = 0; i < size; ++i) std::copy_n(q.view().row(i), size, result.view().row(i));
  return result;
}

/// b ← Q⁻¹b of the leading `size` rows; 0, or the order of the first leading minor that is not positive. Its cycles,
/// roughly, are added to `work`.
int solve(const Matrix<double>& q, Index size, std::vector<double>& b, double& work) {
  if (size == 0) return 0;
  const auto f = static_cast<double>(size);
  work += f * f * f / 12 + 4 * f * f;
  Matrix<double> factor = copy_of(q, size);
  if (const Index minor = host::cholesky(factor.view()); minor != 0) return static_cast<int>(minor);
  // A pivot that is nothing but rounding would send the step anywhere.
  for (Index i = 0; i < size; ++i) {
    const double pivot = factor(i, i) * factor(i, i);
    if (pivot <= 1e-13 * q(i, i)) return static_cast<int>(i + 1);
  }
  host::solve_factored(factor.view(), b);
  return 0;
}

FaceDirection descent(const Matrix<double>& q, std::span<const double> slope) {
  FaceDirection direction;
  direction.by.resize(slope.size());
  std::transform(slope.begin(), slope.end(), direction.by.begin(), [](double s) { return -s; });
  int minor = solve(q, q.rows(), direction.by, direction.work);
  if (minor > 0) {
    // The last row of the smallest failing minor minus what the rows before it make of it.
    std::vector<double> combination;
    for (int smaller = minor; smaller > 0;) {
      minor = smaller;
      combination.assign(q.view().row(minor - 1), q.view().row(minor - 1) + minor - 1);
      smaller = solve(q, minor - 1, combination, direction.work);
    }
    std::fill(direction.by.begin(), direction.by.end(), 0.0);
    std::transform(combination.begin(), combination.end(), direction.by.begin(), [](double c) { return -c; });
    direction.by[usize(minor - 1)] = 1;
    direction.flat = true;
    if (std::inner_product(slope.begin(), slope.end(), direction.by.begin(), 0.0) > 0) {
      for (double& d : direction.by) d = -d;
    }
  }
  const bool finite = std::all_of(direction.by.begin(), direction.by.end(), [](double d) { return std::isfinite(d); });
  const double along = std::inner_product(slope.begin(), slope.end(), direction.by.begin(), 0.0);
  if (!finite || !(along < 0)) direction.by.clear();
  return direction;
}

/// Whether vᵀQv is below −excess·Σvᵢ²Q_ii, which rounding does not explain.
bool curves_down(const Matrix<double>& q, std::span<const double> v, double excess) {
  double curvature = 0;
  double squares = 0;
  double parts = 0;
  for (Index i = 0; i < q.rows(); ++i) {
    squares += v[usize(i)] * v[usize(i)] * q(i, i);
    for (Index j = 0; j < q.cols(); ++j) {
      curvature += v[usize(i)] * q(i, j) * v[usize(j)];
      parts += std::abs(v[usize(i)] * q(i, j) * v[usize(j)]);
    }
  }
  return curvature < -2 * (excess * squares + rounding_of(q.rows() * q.rows()) * parts);
}

}  // namespace

FaceDirection face_direction(const Matrix<double>& q, std::span<const double> slope, bool equality) {
  if (!equality) return descent(q, slope);
  if (slope.size() < 2) return {};
  std::vector<double> difference(slope.begin(), slope.end() - 1);
  for (double& s : difference) s -= slope.back();
  FaceDirection direction = descent(reduced(q), difference);
  if (!direction.by.empty()) {
    direction.by.push_back(-std::accumulate(direction.by.begin(), direction.by.end(), 0.0));
  }
  return direction;
}

template <std::floating_point T>
void ActiveSet<T>::set_ray(std::span<const Index> face, std::span<const double> by) {
  ray_.clear();
  for (std::size_t i = 0; i < face.size(); ++i) ray_.emplace_back(face[i], by[i]);
}

template <std::floating_point T>
Move ActiveSet<T>::face_step() {
  std::vector<Index> face;
  for (Index k = 0; k < size(); ++k) {
    if (up_[usize(k)] == down_[usize(k)]) face.push_back(k);
  }
  const Index f = std::ssize(face);
  if (f == 0) return Move::none;
  Matrix<double> q(f, f, Content::unset);
  std::vector<double> slope(usize(f));
  for (Index i = 0; i < f; ++i) {
    const T* column = columns_.column(face[usize(i)]);
    for (Index j = 0; j < f; ++j) q(i, j) = static_cast<double>(column[face[usize(j)]]);
    q(i, i) = diagonal_[usize(face[usize(i)])];
    slope[usize(i)] = gradient_[usize(face[usize(i)])] + up_[usize(face[usize(i)])];
  }
  face_bytes_ = std::max(face_bytes_, 3 * usize(f) * usize(f) * sizeof(double));
  FaceDirection direction = face_direction(q, slope, equality_);
  const auto entries = static_cast<double>(f * f);
  face_work_ += direction.work + (direction.flat ? 8 : 4) * entries + static_cast<double>(f * size());
  if (direction.by.empty()) return Move::none;
  double length = direction.flat ? std::numeric_limits<double>::infinity() : 1.0;
  for (Index i = 0; i < f; ++i) {
    const double d = direction.by[usize(i)];
    const double room = d > 0 ? room_up(face[usize(i)]) : room_down(face[usize(i)]);
    if (d != 0) length = std::min(length, room / std::abs(d));
  }
  if (direction.flat && curves_down(q, direction.by, excess_)) {
    set_ray(face, direction.by);
    return Move::indefinite;
  }
  if (std::isinf(length)) {
    set_ray(face, direction.by);
    return Move::unbounded;
  }
  const double along = std::inner_product(slope.begin(), slope.end(), direction.by.begin(), 0.0);
  descent_ -= along * length * (direction.flat ? 1 : 1 - length / 2);
  for (Index i = 0; i < f; ++i) {
    const Index k = face[usize(i)];
    double& d = direction.by[usize(i)];
    // The variable that stopped the others lands on its bound despite the rounding of length·d.
    const double room = d > 0 ? room_up(k) : room_down(k);
    const bool arrives = std::abs(d) * length >= room * (1 - 4 * std::numeric_limits<double>::epsilon());
    d = shift(k, d == 0 ? 0 : std::copysign(arrives ? room : std::abs(d) * length, d));
    gradient_[usize(k)] += ridge_[usize(k)] * d;
  }
  move_face(face, direction.by);
  return length < 1 || direction.flat ? Move::made : Move::none;
}

template void ActiveSet<float>::set_ray(std::span<const Index>, std::span<const double>);
template void ActiveSet<double>::set_ray(std::span<const Index>, std::span<const double>);
template Move ActiveSet<float>::face_step();
template Move ActiveSet<double>::face_step();

}  // namespace widelimit
