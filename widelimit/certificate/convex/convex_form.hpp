#pragma once

#include "widelimit/certificate/convex/expansion.hpp"
#include "widelimit/certificate/convex/quadratic_form.hpp"

#include <vector>

namespace widelimit {

/// What convex forms of all balls and functionals refer to.
struct ConvexParts {
  const Ranges& ranges;
  const ReducedDirections& directions;
  bool euclidean = false;
};

/// An expansion on one ball with the matrix of its squares. What is true on a ball is true on every smaller one about
/// the same point: the matrix is made once, O(samples·features²), and then bounds balls of many radii, O(features²)
/// each.                                                              [docs/theory/certificates-proof.md#convex]
class ConvexForm {
 public:
  ConvexForm(const ConvexParts& parts, const Ball& ball, Expansion expansion);

  /// A number below f on the ball of a radius that is not larger; −∞ where nothing can be said.
  [[nodiscard]] double bound(const ConvexParts& parts, double radius) const;

 private:
  void form_matrix(const ConvexParts& parts);
  [[nodiscard]] double rescaled(double bound) const;
  [[nodiscard]] double least_in_box(const ConvexParts& parts, double radius) const;
  [[nodiscard]] double least_in_ball(double radius) const;

  Ball ball_;
  Expansion expansion_;
  double first_ = 0;               ///< the bound of first order on the whole ball
  std::vector<double> scale_, g_;  ///< of v = z_j/scale_j, the last of ν
  QuadraticForm form_;             ///< without rows where the first order is enough
  double error_ = 0;
};

}  // namespace widelimit
