#pragma once

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

}  // namespace widelimit
