#pragma once

#include "widelimit/certificate/attack/descent.hpp"

#include <functional>
#include <vector>

namespace widelimit {

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

/// Descent on the goal from all rows, some in step, with the threads and the attack of `options`; several
/// threads evaluate the goal in parallel.
[[nodiscard]] Attacked attack(const AttackedRows& attacked, const AttackGoal& goal, const CertifyOptions& options,
                              const ClassChange& changed);

}  // namespace widelimit
