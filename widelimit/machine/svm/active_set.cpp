#include "widelimit/machine/svm/active_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

/// K_ii + K_jj − 2K_ij below this fraction of K_ii + K_jj is rounding.
constexpr double flat_curvature = 1e-14;
/// Refinement steps at the minimum of a face, each removing the rounding error of the previous one.
constexpr int most_refinements = 2;
/// Smallest curvature whose inverse times the square of a slope does not overflow.
constexpr double least_curvature = 1e-290;

void pick(std::span<const double> from, std::span<const Index> position, std::span<double> to) {
  for (std::size_t k = 0; k < position.size(); ++k) to[k] = from[usize(position[k])];
}

}  // namespace

template <std::floating_point T>
ActiveSet<T>::ActiveSet(const BoxProblem& problem, GramColumns<T>& columns, std::vector<Index> position,
                        std::span<const double> a, std::span<const double> gradient, double excess)
    : columns_(columns),
      position_(std::move(position)),
      epsilon_(problem.epsilon),
      equality_(problem.equality),
      excess_(excess),
      ridged_(!problem.ridge.empty()) {
  const std::array parts{&a_, &gradient_, &lower_, &upper_, &ridge_, &diagonal_, &inverse_, &up_, &down_};
  const std::size_t n = position_.size();
  numbers_.resize(parts.size() * n);
  for (std::size_t part = 0; part < parts.size(); ++part) *parts[part] = {numbers_.data() + part * n, n};
  pick(a, position_, a_);
  pick(gradient, position_, gradient_);
  pick(problem.lower, position_, lower_);
  pick(problem.upper, position_, upper_);
  if (ridged_) pick(problem.ridge, position_, ridge_);
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
double ActiveSet<T>::distance_up(Index k) const {
  return epsilon_ > 0 && a_[usize(k)] < 0 ? -a_[usize(k)] : upper_[usize(k)] - a_[usize(k)];
}

template <std::floating_point T>
double ActiveSet<T>::distance_down(Index k) const {
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
  if (d > 0 && d >= distance_up(k)) {
    a = epsilon_ > 0 && a < 0 ? 0 : upper_[usize(k)];
  } else if (d < 0 && -d >= distance_down(k)) {
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
host::ScoredVariable ActiveSet<T>::find_partner(const T* column) {
  return host::partner(host::IncreasedVariable<T>{column, lead_.value, diagonal_[usize(lead_.at)]}, diagonal_.data(),
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
  const double distance = std::min(distance_up(i), distance_down(j));
  const double d =
      curvature > (ridged_ ? 0.0 : flat_curvature * both) ? std::min(slope / curvature, distance) : distance;
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
  const double distance = grows ? distance_up(i) : distance_down(i);
  const double d = diagonal_[usize(i)] > 0 ? std::min(slope / diagonal_[usize(i)], distance) : distance;
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
  // With the equality a variable is kept if some partner could move with it; without, if its slope could become as
  // large a violation as the current maximum.
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
void ActiveSet<T>::move_gradient(std::span<const Index> variables, std::span<const double> by) {
  const std::size_t at_once = equality_ ? 2 : 1;
  for (std::size_t f = 0; f < variables.size(); f += at_once) {
    const T* first = columns_.column(variables[f]);
    const bool both = at_once == 2 && f + 1 < variables.size();
    advance({first, by[f], both ? columns_.column(variables[f + 1]) : first, both ? by[f + 1] : 0.0});
  }
}

template <std::floating_point T>
void ActiveSet<T>::set_ray(std::span<const Index> variables, std::span<const double> by) {
  ray_.clear();
  for (std::size_t i = 0; i < variables.size(); ++i) ray_.emplace_back(variables[i], by[i]);
}

template <std::floating_point T>
double ActiveSet<T>::feasible_step(std::span<const Index> variables, std::span<const double> by, double most) const {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (by[i] == 0) continue;
    most = std::min(most, (by[i] > 0 ? distance_up(variables[i]) : distance_down(variables[i])) / std::abs(by[i]));
  }
  return most;
}

template <std::floating_point T>
std::vector<double> ActiveSet<T>::slopes(std::span<const Index> free) const {
  std::vector<double> result;
  result.reserve(free.size());
  for (const Index k : free) result.push_back(gradient_[usize(k)] + up_[usize(k)]);
  return result;
}

/// Returns the largest deviation of the slopes of free variables from 0, or with the equality from each other.
template <std::floating_point T>
double ActiveSet<T>::slope_left(std::span<const Index> free) const {
  double least = equality_ ? no_bound : 0;
  double largest = equality_ ? -no_bound : 0;
  for (const Index k : free) {
    if (up_[usize(k)] != down_[usize(k)]) continue;
    least = std::min(least, gradient_[usize(k)] + up_[usize(k)]);
    largest = std::max(largest, gradient_[usize(k)] + up_[usize(k)]);
  }
  return largest - least;
}

template <std::floating_point T>
Move ActiveSet<T>::minimise_face(Face& face, int most, double allowed, const std::function<void()>& on_progress) {
  std::vector<Index> free;
  free.reserve(usize(free_count()));
  for (Index k = 0; k < size(); ++k) {
    if (up_[usize(k)] == down_[usize(k)]) free.push_back(k);
  }
  if (free.empty()) return Move::none;
  const MatrixView<double> q = face.open(std::ssize(free));
  for (std::size_t i = 0; i < free.size(); ++i) {
    const T* column = columns_.column(free[i]);
    double* row = q.row(static_cast<Index>(i));
    for (std::size_t j = 0; j < free.size(); ++j) row[j] = static_cast<double>(column[free[j]]);
    row[i] = diagonal_[usize(free[i])];
  }
  face.factorise(equality_);
  Move ended = Move::made;
  for (int round = 0; round <= most_refinements; ++round) {
    std::vector<double> slope = slopes(free);
    std::vector<double> moved(free.size());
    do {
      on_progress();
      ended = face_step(face, free, slope, moved);
    } while (ended == Move::made && --most > 0);
    for (std::size_t i = 0; i < free.size(); ++i) gradient_[usize(free[i])] += ridge_[usize(free[i])] * moved[i];
    move_gradient(free, moved);
    if (ended != Move::none || slope_left(free) <= allowed) break;
  }
  return ended;
}

template <std::floating_point T>
Move ActiveSet<T>::face_step(Face& face, std::span<const Index> free, std::span<double> slope,
                             std::span<double> moved) {
  const FaceDirection direction = face.direction(slope);
  if (direction.by.empty()) return Move::none;
  const double length = feasible_step(free, direction.by, direction.flat ? no_bound : 1.0);
  if (direction.flat && face.curves_down(direction.by, excess_)) {
    set_ray(free, direction.by);
    return Move::indefinite;
  }
  if (std::isinf(length)) {
    set_ray(free, direction.by);
    return Move::unbounded;
  }
  const double along = std::inner_product(slope.begin(), slope.end(), direction.by.begin(), 0.0);
  descent_ -= along * length * (direction.flat ? 1 : 1 - length / 2);
  for (std::size_t i = 0; i < direction.change.size(); ++i) slope[i] += length * direction.change[i];
  for (std::size_t i = 0; i < free.size(); ++i) {
    const double d = direction.by[i];
    if (d == 0) continue;
    const Index k = free[i];
    // The blocking variable is set exactly to its bound despite the rounding of length·d.
    const double distance = d > 0 ? distance_up(k) : distance_down(k);
    const bool arrives = std::abs(d) * length >= distance * (1 - 4 * std::numeric_limits<double>::epsilon());
    moved[i] += shift(k, std::copysign(arrives ? distance : std::abs(d) * length, d));
    if (up_[usize(k)] != down_[usize(k)]) face.remove(static_cast<Index>(i));
  }
  return length < 1 || direction.flat ? Move::made : Move::none;
}

template class ActiveSet<float>;
template class ActiveSet<double>;

}  // namespace widelimit
