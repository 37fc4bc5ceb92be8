#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

/// Signed type for counts and indices, so that differences do not wrap.
using Index = std::ptrdiff_t;
/// Converts an index for standard containers.
[[nodiscard]] constexpr std::size_t usize(Index k) { return static_cast<std::size_t>(k); }
/// Returns factors[i], or 1 without factors: weights, scales and widths that are all 1 are passed as an empty span.
[[nodiscard]] inline double factor_at(std::span<const double> factors, Index i) {
  return factors.empty() ? 1.0 : factors[usize(i)];
}

/// Floating-point precision of a call.
enum class Precision : std::uint8_t { f32, f64 };
template <std::floating_point T>
constexpr Precision precision_of = sizeof(T) == sizeof(float) ? Precision::f32 : Precision::f64;
/// Returns the bytes of a number.
[[nodiscard]] constexpr std::size_t size_of(Precision precision) {
  return precision == Precision::f32 ? sizeof(float) : sizeof(double);
}
/// Returns the machine epsilon.
[[nodiscard]] constexpr double epsilon_of(Precision precision) {
  return precision == Precision::f32 ? double{std::numeric_limits<float>::epsilon()}
                                     : std::numeric_limits<double>::epsilon();
}

[[nodiscard]] std::string_view to_string(Precision precision);
[[nodiscard]] Precision parse_precision(std::string_view text);

/// Shape of one sample: an image of height × width positions with `channels` values each; a vector has one position and
/// its features are channels; the positions of a graph are its nodes, whose number varies by sample.
struct Shape {
  Index height = 1;
  Index width = 1;
  Index channels = 1;
  bool nodes = false;  ///< graph nodes; height and width are 1

  [[nodiscard]] Index positions() const { return height * width; }
  [[nodiscard]] Index size() const { return height * width * channels; }
  [[nodiscard]] bool is_vector() const { return height == 1 && width == 1 && !nodes; }
  [[nodiscard]] Shape flattened() const { return {1, 1, size()}; }
  bool operator==(const Shape&) const = default;
};

/// Formats "784" for a vector, "28x28x1" for an image, "nodesx7" for graphs; the parser also accepts "28x28" with one
/// channel, and "nodes".
[[nodiscard]] std::string to_string(const Shape& shape);
[[nodiscard]] Shape parse_shape(std::string_view text);

}  // namespace widelimit
