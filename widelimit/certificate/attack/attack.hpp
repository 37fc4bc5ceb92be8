#pragma once

#include "widelimit/certificate/certify.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// What descents make negative: values[k] and slopes.row(k) of row rows[k] at x.row(k). A negative value, and no other,
/// is another class.
using AttackGoal = std::function<void(MatrixView<const double> x, std::span<const Index> rows, double* values,
                                      MatrixView<double> slopes)>;

/// Rows that are attacked, each around one of some points, and where their inputs may be.
struct AttackedRows {
  MatrixView<const double> points;
  std::vector<Index> point;  ///< of each row
  BallShape shape;
  int exponent = 0;  ///< everything is in units of 2 to the power of this

  /// The radius of the smallest ball about `a` that holds `b`, rounded up.
  [[nodiscard]] double distance(const double* a, const double* b) const;
};

/// The nearest sample found for each row; distance ∞ where there is none.
struct Descended {
  Descended(Index rows, Index features);
  std::vector<double> distance;
  Matrix<double> samples;
};

/// Looks for the nearest x at which the goal is negative, for some rows in step: against the slope (its sign in ℓ∞, its
/// direction in ℓ2) on a sphere that shrinks below what was found and grows where nothing was, inside the box.
class AttackDescent {
 public:
  /// Improves the entries of `found` that `rows` name.
  AttackDescent(const AttackedRows& attacked, AttackGoal goal, std::vector<Index> rows, const AttackOptions& options,
                Descended& found);
  /// From the points themselves and from random places, then back along the line to the point. One evaluation of the
  /// goal a step.
  void run(Progress* progress);

 private:
  [[nodiscard]] const double* point(Index k) const {
    return attacked_.points.row(attacked_.point[usize(rows_[usize(k)])]);
  }
  void descend(Index start, Progress* progress);
  void place(Index start);
  void evaluate();
  void keep(Index k);
  void step(Index k, double progress);
  void retreat();
  void put(Index k, const std::vector<double>& shift, double reach);

  const AttackedRows& attacked_;
  AttackGoal goal_;
  std::vector<Index> rows_;
  const AttackOptions& options_;
  Descended& found_;
  Matrix<double> x_, slopes_;
  std::vector<double> values_, reach_;
};

/// The nearest samples of another class that were found.
struct Attacked {
  std::vector<double> distance;  ///< one for each point; ∞ where none was found
  Matrix<double> samples;        ///< points × features; the point itself where none was found
};

/// Whether samples, one for each of the points named, have another class than the points' label.
using ClassChange = std::function<std::vector<bool>(MatrixView<const double> samples, std::span<const Index> points)>;

/// The nearest sample of every point that `changed` confirms: candidates of the descents for its rows, nearest first,
/// each moved slightly farther where it is not confirmed.
[[nodiscard]] Attacked confirmed(const AttackedRows& attacked, const Descended& found, const ClassChange& changed);

/// Descent on the goal from all rows, some in step, with the attack of `options`; the threads of the engine
/// evaluate the goal in parallel.
[[nodiscard]] Attacked attack(const AttackedRows& attacked, const AttackGoal& goal, const CertifyOptions& options,
                              const Engine& engine, const ClassChange& changed);

}  // namespace widelimit
