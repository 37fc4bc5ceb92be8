#pragma once

#include "widelimit/certificate/convex/expansion.hpp"
#include "widelimit/certificate/convex/quadratic_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/engine.hpp"

#include <memory>
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

/// Makes the expansions of functionals on one ball.
class BallExpander {
 public:
  virtual ~BallExpander() = default;
  [[nodiscard]] virtual Expansion expand(const Functional& functional) const = 0;
};

/// Makes expansions of a machine.
class Expander {
 public:
  virtual ~Expander() = default;
  /// Borrows this; what functionals share is found here.
  [[nodiscard]] virtual std::unique_ptr<BallExpander> around(const Ball& ball) const = 0;
  /// What expansions are about.
  [[nodiscard]] virtual ConvexParts parts() const = 0;
};

/// Expansions to second order, minimised over the ball.               [docs/theory/certificates-proof.md#convex]
[[nodiscard]] std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                               std::span<const Functional> functionals,
                                                               const Engine& engine);

}  // namespace widelimit
