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
  none,        ///< nothing violates optimality by more than allowed
  stalled,     ///< the best step is below rounding
  unbounded,   ///< the objective is unbounded below: no bound stops a direction without curvature
  indefinite,  ///< a direction has negative curvature
  slow,        ///< so many steps were made that another way may be shorter
};

/// The variables of a box problem that still move, packed together, and the two kinds of steps on them: working sets of
/// one variable (homogeneous) or two (with the equality), chosen by second-order gain as Fan, Chen and Lin (2005) do;
/// and exact minimisation over the free variables, which ends what single steps approach slowly.
template <std::floating_point T>
class ActiveSet {
 public:
  /// Variables `position` of the problem, whose columns `columns` holds; a and gradient are of the whole problem. No
  /// curvature vᵀKv of a positive semi-definite K is below −excess·Σvᵢ²K_ii.
  ActiveSet(const BoxProblem& problem, GramColumns<T>& columns, std::vector<Index> position, std::span<const double> a,
            std::span<const double> gradient, double excess);
  ActiveSet(const ActiveSet&) = delete;
  ActiveSet& operator=(const ActiveSet&) = delete;

  /// One working set, unless no violation exceeds `allowed`. O(active).
  Move step(double allowed);
  /// Exact steps, `most` at the most: to the minimum over the free variables, or to the first bound on the way and on
  /// from there with what is still free. Move::none at the minimum; where rounding leaves slopes above `allowed` there,
  /// once or twice more. `beat` is called with each step; it stops the work
  /// by throwing. O(free³/3 + active·free + steps·free²).
  Move minimise_face(Face& face, int most, double allowed, const std::function<void()>& beat);
  [[nodiscard]] Index free_count() const;

  /// Largest violation of optimality, as of the last step.
  [[nodiscard]] double violation() const { return violation_; }
  /// By how much all steps so far have lowered the objective.
  [[nodiscard]] double descent() const { return descent_; }
  /// Variables that a working set could still contain; the others sit at a bound and want to stay.
  [[nodiscard]] std::vector<Index> unsettled() const;
  [[nodiscard]] Index size() const { return static_cast<Index>(a_.size()); }
  [[nodiscard]] std::size_t bytes() const { return a_.size() * 11 * sizeof(double); }
  void write(std::span<double> a, std::span<double> gradient) const;
  /// The direction of a step that ended as unbounded or indefinite, in the variables of the whole problem.
  [[nodiscard]] std::vector<double> ray(Index variables) const;

 private:
  [[nodiscard]] Move pair_step(double allowed);
  [[nodiscard]] Move single_step(double allowed);
  /// One exact step; slopes and what each of `free` has moved go along, the gradient does not.
  [[nodiscard]] Move face_step(Face& face, std::span<const Index> free, std::span<double> slope,
                               std::span<double> moved);
  /// The gradient after changes `by` of `variables`.
  void move_gradient(std::span<const Index> variables, std::span<const double> by);
  /// How far variables may go along a direction, `most` at the most.
  [[nodiscard]] double room_along(std::span<const Index> variables, std::span<const double> by, double most) const;
  [[nodiscard]] double slope_left(std::span<const Index> free) const;
  [[nodiscard]] std::vector<double> slopes(std::span<const Index> free) const;
  void set_ray(std::span<const Index> variables, std::span<const double> by);
  [[nodiscard]] double room_up(Index k) const;
  [[nodiscard]] double room_down(Index k) const;
  /// a[k] += d exactly to the bound where d is all the room; returns the change.
  double shift(Index k, double d);
  void mark(Index k);
  void advance(const host::Moves<T>& moves);
  [[nodiscard]] host::Best find_partner(const T* column);

  GramColumns<T>& columns_;
  std::vector<Index> position_;
  std::vector<double> numbers_;  ///< what follows, one after the other
  std::span<double> a_, gradient_, lower_, upper_, ridge_, diagonal_, inverse_, up_, down_;
  double epsilon_;
  bool equality_;
  double excess_;
  bool ridged_;                                ///< curvature is never below that of the ridge
  double floor_ = 0;                           ///< in the choice of working sets, less curvature counts as this
  std::vector<std::pair<Index, double>> ray_;  ///< variable and by how much it moves
  host::Best lead_;                            ///< the variable that moves next
  double largest_ = 0;                         ///< largest gradient + down, or largest slope without the equality
  double violation_ = 0;
  double descent_ = 0;
};

}  // namespace widelimit
