#pragma once

#include "widelimit/certificate/convex/expansion.hpp"
#include "widelimit/certificate/convex/quadratic_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/engine.hpp"

#include <memory>
#include <vector>

namespace widelimit {

/// Data shared by the convex forms of all balls and functionals.
struct ConvexParts {
  const Ranges& ranges;
  const ReducedDirections& directions;
  bool euclidean = false;
};

/// An expansion on one ball with the matrix of its squares. A bound on a ball also holds on every smaller concentric
/// ball: the matrix is built once in O(samples·features²) and then bounds balls of many radii in O(features²) each.
/// [docs/theory/certificates-proof.md#convex]
class ConvexForm {
 public:
  ConvexForm(const ConvexParts& parts, const Ball& ball, Expansion expansion);

  /// Returns a lower bound of f on the concentric ball of a radius that is not larger; −∞ if there is none.
  [[nodiscard]] double bound(const ConvexParts& parts, double radius) const;

 private:
  void form_matrix(const ConvexParts& parts);
  [[nodiscard]] double rescaled(double bound) const;
  [[nodiscard]] double least_in_box(const ConvexParts& parts, double radius) const;
  [[nodiscard]] double least_in_ball(double radius) const;

  Ball ball_;
  Expansion expansion_;
  double first_ = 0;               ///< first-order bound on the whole ball
  std::vector<double> scale_, g_;  ///< scale and gradient in v = z_j/scale_j; the last entry belongs to ν
  QuadraticForm form_;             ///< no rows if the first-order bound is sufficient
  double error_ = 0;
};

/// Creates the expansions of functionals on one ball.
class BallExpander {
 public:
  virtual ~BallExpander() = default;
  [[nodiscard]] virtual Expansion expand(const Functional& functional) const = 0;
};

/// Creates the expansions of a machine.
class Expander {
 public:
  virtual ~Expander() = default;
  /// Computes what all functionals on the ball share. Borrows this object.
  [[nodiscard]] virtual std::unique_ptr<BallExpander> around(const Ball& ball) const = 0;
  /// Returns the data shared by all expansions.
  [[nodiscard]] virtual ConvexParts parts() const = 0;
};

/// Expansions to second order, minimised over the ball.               [docs/theory/certificates-proof.md#convex]
[[nodiscard]] std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                               std::span<const Functional> functionals,
                                                               const Engine& engine);

}  // namespace widelimit
