#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <string_view>

namespace widelimit {

/// The distance in which a ball is one.
enum class Norm : std::uint8_t { linf, l2 };
[[nodiscard]] std::string_view to_string(Norm norm);  ///< "linf", "l2"
/// Error{usage} lists the choices.
[[nodiscard]] Norm parse_norm(std::string_view text);

/// Bounds of every coordinate of a sample, as the kernel sees it.
struct Box {
  double low = 0;
  double high = 1;
};

/// All x within a radius of one of some points.
struct Ball {
  Index point = 0;
  double radius = 0;
  bool operator==(const Ball&) const = default;
};

/// Error{input} names the first value outside, its feature, and its sample, counted from `first` on.
void check_box(const Box& box, MatrixView<const double> points, Index first = 0);

}  // namespace widelimit
