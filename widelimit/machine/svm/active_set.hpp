#pragma once

#include "widelimit/engine/host/box_pass.hpp"
#include "widelimit/kernel/gram_columns.hpp"
#include "widelimit/machine/svm/box_problem.hpp"
#include "widelimit/machine/svm/face.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace widelimit {

enum class Move : std::uint8_t {
  made,
  none,        ///< no violation of optimality exceeds the allowed one
  stalled,     ///< the best step is below rounding
  unbounded,   ///< the objective is unbounded below along a direction without curvature or bound
  indefinite,  ///< a direction has negative curvature
  slow,        ///< after so many steps an interior point method may be faster
};

/// The active variables of a box problem, stored contiguously, with two kinds of steps: working sets of one variable
/// (homogeneous) or two (with the equality), chosen by second-order gain (Fan, Chen and Lin 2005); and exact
/// minimisation over the free variables, where single steps converge slowly.
template <std::floating_point T>
class ActiveSet {
 public:
  /// Takes the variables `position` of the problem, whose columns `columns` holds; a and gradient refer to the whole
  /// problem. For a positive semi-definite K, no curvature vᵀKv is below −excess·Σvᵢ²K_ii.
  ActiveSet(const BoxProblem& problem, GramColumns<T>& columns, std::vector<Index> position, std::span<const double> a,
            std::span<const double> gradient, double excess);
  ActiveSet(const ActiveSet&) = delete;
  ActiveSet& operator=(const ActiveSet&) = delete;

  /// Optimises one working set, unless no violation exceeds `allowed`. O(active).
  Move step(double allowed);
  /// Takes at most `most` exact steps: to the minimum over the free variables, or to the first bound on the way, then
  /// on with the remaining free variables. Returns Move::none at the minimum; if rounding leaves slopes above
  /// `allowed`, up to two refinements follow. `on_progress` is called at each step and interrupts by throwing.
  /// O(free³/3 + active·free + steps·free²).
  Move minimise_face(Face& face, int most, double allowed, const std::function<void()>& on_progress);
  [[nodiscard]] Index free_count() const;

  /// Largest violation of optimality at the last step.
  [[nodiscard]] double violation() const { return violation_; }
  /// Total decrease of the objective.
  [[nodiscard]] double descent() const { return descent_; }
  /// Returns the variables that a working set could still contain; the others are at a bound and would stay there.
  [[nodiscard]] std::vector<Index> unsettled() const;
  [[nodiscard]] Index size() const { return static_cast<Index>(a_.size()); }
  [[nodiscard]] std::size_t bytes() const { return a_.size() * 11 * sizeof(double); }
  void write(std::span<double> a, std::span<double> gradient) const;
  /// Returns the direction of a step that ended as unbounded or indefinite, in the variables of the whole problem.
  [[nodiscard]] std::vector<double> ray(Index variables) const;

 private:
  [[nodiscard]] Move pair_step(double allowed);
  [[nodiscard]] Move single_step(double allowed);
  /// Takes one exact step; updates `slope` and `moved`, the total change of each of `free`, but not the gradient.
  [[nodiscard]] Move face_step(Face& face, std::span<const Index> free, std::span<double> slope,
                               std::span<double> moved);
  /// Updates the gradient after changes `by` of `variables`.
  void move_gradient(std::span<const Index> variables, std::span<const double> by);
  /// Returns the step to the first bound along a direction, at most `most`.
  [[nodiscard]] double feasible_step(std::span<const Index> variables, std::span<const double> by, double most) const;
  [[nodiscard]] double slope_left(std::span<const Index> free) const;
  [[nodiscard]] std::vector<double> slopes(std::span<const Index> free) const;
  void set_ray(std::span<const Index> variables, std::span<const double> by);
  [[nodiscard]] double distance_up(Index k) const;
  [[nodiscard]] double distance_down(Index k) const;
  /// Computes a[k] += d, exactly to the bound if d reaches it; returns the change.
  double shift(Index k, double d);
  void mark(Index k);
  void advance(const host::Moves<T>& moves);
  [[nodiscard]] host::ScoredVariable find_partner(const T* column);

  GramColumns<T>& columns_;
  std::vector<Index> position_;
  std::vector<double> numbers_;  ///< storage of the spans below
  std::span<double> a_, gradient_, lower_, upper_, ridge_, diagonal_, inverse_, up_, down_;
  double epsilon_;
  bool equality_;
  double excess_;
  bool ridged_;                                ///< the ridge is a lower bound of the curvature
  double floor_ = 0;                           ///< lower bound of the curvature in the choice of working sets
  std::vector<std::pair<Index, double>> ray_;  ///< variables and their changes
  host::ScoredVariable lead_;                  ///< the first variable of the next working set
  double largest_ = 0;                         ///< largest gradient + down, or largest slope without the equality
  double violation_ = 0;
  double descent_ = 0;
};

}  // namespace widelimit
