#pragma once

#include "widelimit/base/matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace widelimit {

/// Norm of the ball.
enum class Norm : std::uint8_t { linf, l2 };
[[nodiscard]] std::string_view to_string(Norm norm);  ///< "linf", "l2"
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] Norm parse_norm(std::string_view text);

/// Bounds of the coordinates of a sample: the same for all features, or one for each.
class Box {
 public:
  Box() = default;  ///< [0, 1]
  Box(double low, double high) : low_{low}, high_{high} {}
  /// Throws Error{usage} unless both have the same, non-zero size.
  Box(std::vector<double> low, std::vector<double> high);

  [[nodiscard]] double low(Index j) const { return low_[low_.size() == 1 ? 0 : usize(j)]; }
  [[nodiscard]] double high(Index j) const { return high_[high_.size() == 1 ? 0 : usize(j)]; }
  [[nodiscard]] double clamp(double x, Index j) const { return std::clamp(x, low(j), high(j)); }
  /// Number of bounds: 1 if they are the same for all features.
  [[nodiscard]] Index size() const { return std::ssize(low_); }

 private:
  std::vector<double> low_{0}, high_{1};
};

/// Properties shared by all balls of a problem.
struct BallShape {
  Norm norm = Norm::linf;
  std::optional<Box> box{};      ///< intersected with the balls; none: unbounded
  std::vector<double> widths{};  ///< ℓ∞: half-widths of the ball of radius 1, one per feature; empty: 1

  [[nodiscard]] double width(Index j) const { return factor_at(widths, j); }
  /// Returns the half-width of an ℓ∞ ball in feature j, rounded up.
  [[nodiscard]] double reach(double radius, Index j) const {
    return widths.empty() ? radius : radius * widths[usize(j)] * (1 + 0x1p-50);
  }
};

/// All x within a radius of the point with this index.
struct Ball {
  Index point = 0;
  double radius = 0;
  bool operator==(const Ball&) const = default;
};

}  // namespace widelimit
