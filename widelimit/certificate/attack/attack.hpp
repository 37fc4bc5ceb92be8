#pragma once

#include "widelimit/certificate/certify.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// The function that an attack drives negative: writes values[k] and the gradient slopes.row(k) of row rows[k] at
/// x.row(k). The class has changed if and only if the value is negative.
using AttackGoal = std::function<void(MatrixView<const double> x, std::span<const Index> rows, double* values,
                                      MatrixView<double> slopes)>;

/// The attacked rows, the point that each belongs to, and the domain of their inputs.
struct AttackedRows {
  MatrixView<const double> points;
  std::vector<Index> point;  ///< index of the point of each row
  BallShape shape;
  int exponent = 0;  ///< all inputs are in units of 2^exponent

  /// Returns the radius of the smallest ball around `a` that contains `b`, rounded up.
  [[nodiscard]] double distance(const double* a, const double* b) const;
};

/// The nearest sample found for each row; the distance is ∞ if none was found.
struct NearestSamples {
  NearestSamples(Index rows, Index features);
  std::vector<double> distance;
  Matrix<double> samples;
};

/// Searches for the nearest x with a negative goal, for a batch of rows in lockstep. Steps against the gradient (its
/// sign for ℓ∞, its direction for ℓ2) are projected onto a sphere inside the box. The radius of the sphere shrinks
/// below the best distance after a success and grows otherwise.
class AttackDescent {
 public:
  /// Updates the entries of `found` with indices `rows`.
  AttackDescent(const AttackedRows& attacked, AttackGoal goal, std::vector<Index> rows, const AttackOptions& options,
                NearestSamples& found);
  /// Runs the descents from the points and from random starts, then a line search back towards each point. Evaluates
  /// the goal once per step.
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
  void bisect_segment();
  void put(Index k, const std::vector<double>& shift, double reach);

  const AttackedRows& attacked_;
  AttackGoal goal_;
  std::vector<Index> rows_;
  const AttackOptions& options_;
  NearestSamples& found_;
  Matrix<double> x_, slopes_;
  std::vector<double> values_, reach_;
};

/// The nearest samples found in another class.
struct Attacked {
  std::vector<double> distance;  ///< one per point; ∞ if none was found
  Matrix<double> samples;        ///< points × features; the point itself if none was found
};

/// Returns for each sample whether its predicted class differs from the label of its point; one sample per given point.
using ClassChange = std::function<std::vector<bool>(MatrixView<const double> samples, std::span<const Index> points)>;

/// Returns the nearest sample of each point that `changed` confirms. Candidates are the results of the descents for its
/// rows, nearest first; a candidate that is not confirmed is retried slightly farther from the point.
[[nodiscard]] Attacked confirmed(const AttackedRows& attacked, const NearestSamples& found, const ClassChange& changed);

/// Runs the attack of `options` from all rows in batches; the threads of the engine evaluate the goal in parallel.
[[nodiscard]] Attacked attack(const AttackedRows& attacked, const AttackGoal& goal, const CertifyOptions& options,
                              const Engine& engine, const ClassChange& changed);

}  // namespace widelimit
