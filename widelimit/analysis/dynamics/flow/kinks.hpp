#pragma once

#include "widelimit/finite/training/loss.hpp"

#include <array>

namespace widelimit {

/// Convex piecewise linear loss of one output: piece 0 below the first kink, piece p above kink p − 1.
struct Kinks {
  int count = 0;
  std::array<double, 2> at{};
  std::array<double, 3> slope{};  ///< slope of each piece, ascending
};

[[nodiscard]] inline bool is_piecewise_linear(LossKind kind) {
  return kind == LossKind::hinge || kind == LossKind::insensitive;
}

/// Returns the kinks: y for the hinge loss, with slope −y on the margin side and 0 beyond; y ∓ ε for the ε-insensitive
/// loss, or y if ε = 0.
[[nodiscard]] Kinks kinks_of(const Loss& loss, double y);

}  // namespace widelimit
