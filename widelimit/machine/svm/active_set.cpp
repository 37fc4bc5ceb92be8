#include "widelimit/machine/svm/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// K_ii + K_jj − 2K_ij below this share of K_ii + K_jj is rounding.
constexpr double flat_curvature = 1e-14;
/// Its inverse, times the square of a slope, is still in the range of float64.
constexpr double least_curvature = 1e-290;

std::vector<double> picked(std::span<const double> from, std::span<const Index> position) {
  std::vector<double> result;
  result.reserve(position.size());
  for (const Index k : position) result.push_back(from[usize(k)]);
  return result;
}

}  // namespace

template <std::floating_point T>
ActiveSet<T>::ActiveSet(const BoxProblem& problem, GramColumns<T>& columns, std::vector<Index> position,
                        std::span<const double> a, std::span<const double> gradient, double excess)
    : columns_(columns),
      position_(std::move(position)),
      a_(picked(a, position_)),
      gradient_(picked(gradient, position_)),
      lower_(picked(problem.lower, position_)),
      upper_(picked(problem.upper, position_)),
      ridge_(problem.ridge.empty() ? std::vector<double>(a_.size()) : picked(problem.ridge, position_)),
      diagonal_(a_.size()),
      inverse_(a_.size()),
      up_(a_.size()),
      down_(a_.size()),
      epsilon_(problem.epsilon),
      equality_(problem.equality),
      excess_(excess),
      ridged_(!problem.ridge.empty()) {
  double largest = 0;
  for (Index k = 0; k < size(); ++k) {
    diagonal_[usize(k)] = columns_.diagonal(k) + ridge_[usize(k)];
    largest = std::max(largest, diagonal_[usize(k)]);
    mark(k);
  }
  floor_ = std::max(ridged_ ? 0.0 : flat_curvature * largest, least_curvature);
  for (Index k = 0; k < size(); ++k) inverse_[usize(k)] = 1 / std::max(diagonal_[usize(k)], floor_);
  if (size() > 0) advance({columns_.column(0), 0.0, columns_.column(0), 0.0});
}

template <std::floating_point T>
double ActiveSet<T>::room_up(Index k) const {
  return epsilon_ > 0 && a_[usize(k)] < 0 ? -a_[usize(k)] : upper_[usize(k)] - a_[usize(k)];
}

template <std::floating_point T>
double ActiveSet<T>::room_down(Index k) const {
  return epsilon_ > 0 && a_[usize(k)] > 0 ? a_[usize(k)] : a_[usize(k)] - lower_[usize(k)];
}

template <std::floating_point T>
void ActiveSet<T>::mark(Index k) {
  const double a = a_[usize(k)];
  up_[usize(k)] = a >= upper_[usize(k)] ? no_bound : (a >= 0 ? epsilon_ : -epsilon_);
  down_[usize(k)] = a <= lower_[usize(k)] ? -no_bound : (a > 0 ? epsilon_ : -epsilon_);
}

template <std::floating_point T>
double ActiveSet<T>::shift(Index k, double d) {
  double& a = a_[usize(k)];
  const double before = a;
  if (d > 0 && d >= room_up(k)) {
    a = epsilon_ > 0 && a < 0 ? 0 : upper_[usize(k)];
  } else if (d < 0 && -d >= room_down(k)) {
    a = epsilon_ > 0 && a > 0 ? 0 : lower_[usize(k)];
  } else {
    a += d;
  }
  mark(k);
  return a - before;
}

template <std::floating_point T>
void ActiveSet<T>::advance(const host::Moves<T>& moves) {
  largest_ = 0;
  lead_ = equality_ ? host::advance(moves, up_.data(), gradient_.data(), size())
                    : host::advance_single(moves, up_.data(), down_.data(), inverse_.data(), gradient_.data(), size(),
                                           largest_);
  if (lead_.at < 0) lead_ = {};  // no variable can move
}

template <std::floating_point T>
host::Best ActiveSet<T>::find_partner(const T* column) {
  return host::partner(host::Growing<T>{column, lead_.value, diagonal_[usize(lead_.at)]}, diagonal_.data(),
                       down_.data(), gradient_.data(), size(), floor_, largest_);
}

template <std::floating_point T>
Move ActiveSet<T>::step(double allowed) {
  return equality_ ? pair_step(allowed) : single_step(allowed);
}

template <std::floating_point T>
Move ActiveSet<T>::pair_step(double allowed) {
  violation_ = 0;
  if (lead_.at < 0 || std::isinf(lead_.value)) return Move::none;
  const Index i = lead_.at;
  const T* first = columns_.column(i);
  const Index j = find_partner(first).at;
  violation_ = std::max(0.0, largest_ - lead_.value);
  if (j < 0 || violation_ <= allowed) return Move::none;
  const double slope = gradient_[usize(j)] + down_[usize(j)] - lead_.value;
  const double both = diagonal_[usize(i)] + diagonal_[usize(j)];
  const double ridge = ridge_[usize(i)] + ridge_[usize(j)];
  const double own = both - 2 * static_cast<double>(first[j]);
  if (own < ridge - 2 * (excess_ + flat_curvature) * both) {
    ray_ = {{i, 1.0}, {j, -1.0}};
    return Move::indefinite;
  }
  const double curvature = std::max(own, ridge);
  const double room = std::min(room_up(i), room_down(j));
  const double d = curvature > (ridged_ ? 0.0 : flat_curvature * both) ? std::min(slope / curvature, room) : room;
  if (std::isinf(d)) {
    ray_ = {{i, 1.0}, {j, -1.0}};
    return Move::unbounded;
  }
  descent_ += d * (slope - std::max(curvature, 0.0) * d / 2);
  const double up = shift(i, d);
  const double down = shift(j, -d);
  if (up == 0 && down == 0) return Move::stalled;
  gradient_[usize(i)] += ridge_[usize(i)] * up;
  gradient_[usize(j)] += ridge_[usize(j)] * down;
  advance({first, up, columns_.column(j), down});
  return Move::made;
}

template <std::floating_point T>
Move ActiveSet<T>::single_step(double allowed) {
  violation_ = largest_;
  if (lead_.at < 0 || violation_ <= allowed) return Move::none;
  const Index i = lead_.at;
  const double rise = gradient_[usize(i)] + up_[usize(i)];
  const bool grows = rise < 0;
  const double slope = grows ? -rise : gradient_[usize(i)] + down_[usize(i)];
  const double room = grows ? room_up(i) : room_down(i);
  const double d = diagonal_[usize(i)] > 0 ? std::min(slope / diagonal_[usize(i)], room) : room;
  if (std::isinf(d)) {
    ray_ = {{i, grows ? 1.0 : -1.0}};
    return Move::unbounded;
  }
  descent_ += d * (slope - std::max(diagonal_[usize(i)], 0.0) * d / 2);
  const double change = shift(i, grows ? d : -d);
  if (change == 0) return Move::stalled;
  gradient_[usize(i)] += ridge_[usize(i)] * change;
  const T* column = columns_.column(i);
  advance({column, change, column, 0.0});
  return Move::made;
}

template <std::floating_point T>
std::vector<Index> ActiveSet<T>::unsettled() const {
  // With the equality a variable matters while some partner could move with it; without, while its slope could come to
  // violate by as much as the worst does now.
  const double rising_above = equality_ ? largest_ : violation_;
  const double falling_below = equality_ ? lead_.value : -violation_;
  std::vector<Index> kept;
  for (Index k = 0; k < size(); ++k) {
    const bool rests =
        gradient_[usize(k)] + up_[usize(k)] >= rising_above && gradient_[usize(k)] + down_[usize(k)] <= falling_below;
    if (!rests) kept.push_back(position_[usize(k)]);
  }
  return kept;
}

template <std::floating_point T>
void ActiveSet<T>::write(std::span<double> a, std::span<double> gradient) const {
  for (Index k = 0; k < size(); ++k) {
    a[usize(position_[usize(k)])] = a_[usize(k)];
    gradient[usize(position_[usize(k)])] = gradient_[usize(k)];
  }
}

template <std::floating_point T>
std::vector<double> ActiveSet<T>::ray(Index variables) const {
  std::vector<double> result(usize(variables));
  for (const auto& [k, by] : ray_) result[usize(position_[usize(k)])] = by;
  return result;
}

template <std::floating_point T>
Index ActiveSet<T>::free_count() const {
  Index count = 0;
  for (std::size_t k = 0; k < a_.size(); ++k) count += up_[k] == down_[k] ? 1 : 0;
  return count;
}

template <std::floating_point T>
void ActiveSet<T>::move_face(std::span<const Index> face, std::span<const double> by) {
  const std::size_t at_once = equality_ ? 2 : 1;
  for (std::size_t f = 0; f < face.size(); f += at_once) {
    const T* first = columns_.column(face[f]);
    const bool both = at_once == 2 && f + 1 < face.size();
    advance({first, by[f], both ? columns_.column(face[f + 1]) : first, both ? by[f + 1] : 0.0});
  }
}

template class ActiveSet<float>;
template class ActiveSet<double>;

}  // namespace widelimit
