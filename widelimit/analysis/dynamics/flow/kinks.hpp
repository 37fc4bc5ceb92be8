#pragma once

#include "widelimit/finite/training/loss.hpp"

#include <array>

namespace widelimit {

/// A convex loss of one output made of straight pieces: piece 0 below the first kink, piece p above kink p − 1.
struct Kinks {
  int count = 0;
  std::array<double, 2> at{};
  std::array<double, 3> slope{};  ///< of each piece, rising
};

[[nodiscard]] inline bool is_piecewise_linear(LossKind kind) {
  return kind == LossKind::hinge || kind == LossKind::insensitive;
}

/// Of hinge: y, with slope −y before and 0 beyond; of the ε-insensitive loss: y ∓ ε, or y alone where ε = 0.
[[nodiscard]] Kinks kinks_of(const Loss& loss, double y);

}  // namespace widelimit
