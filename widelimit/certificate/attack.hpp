#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <functional>
#include <vector>

namespace widelimit {

/// The nearest samples found where a functional of a point is negative.
struct Attacked {
  std::vector<double> distance;  ///< one for each point; ∞ where none was found
  Matrix<double> samples;        ///< points × features; the point itself where none was found
};

/// Whether samples, one for each of the points named, have another class than the points' label.
using ClassChange = std::function<std::vector<bool>(MatrixView<const double> samples, std::span<const Index> points)>;

/// Projected gradient descent on each functional: a step against the gradient (its sign in ℓ∞, its direction in ℓ2) on
/// the sphere of a radius that shrinks where the functional is negative and grows where it is not, inside the box. All
/// points go in step, two matrix products a step. What is nearest is checked by `changed` and moved on a little where
/// it does not pass.
[[nodiscard]] Attacked attack(const CertificateProblem& problem, const AttackOptions& options,
                              const ClassChange& changed);

}  // namespace widelimit
