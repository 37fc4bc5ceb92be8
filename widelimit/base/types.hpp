#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace widelimit {

/// Counts and positions. Signed, so that differences need no care.
using Index = std::ptrdiff_t;
/// The place of a count in a standard container.
[[nodiscard]] constexpr std::size_t usize(Index k) { return static_cast<std::size_t>(k); }

/// The arithmetic of one call.
enum class Precision : std::uint8_t { f32, f64 };
template <std::floating_point T>
constexpr Precision precision_of = sizeof(T) == sizeof(float) ? Precision::f32 : Precision::f64;

[[nodiscard]] std::string_view to_string(Precision precision);
[[nodiscard]] Precision parse_precision(std::string_view text);

/// Shape of one sample: an image of height × width positions with `channels` values each; a plain vector has one
/// position and its features are the channels; the positions of a graph are its nodes, as many as each sample has.
struct Shape {
  Index height = 1;
  Index width = 1;
  Index channels = 1;
  bool nodes = false;  ///< of graphs; height and width are 1

  [[nodiscard]] Index positions() const { return height * width; }
  [[nodiscard]] Index size() const { return height * width * channels; }
  [[nodiscard]] bool is_vector() const { return height == 1 && width == 1 && !nodes; }
  [[nodiscard]] Shape flattened() const { return {1, 1, size()}; }
  bool operator==(const Shape&) const = default;
};

/// "784" for a vector, "28x28x1" for an image, "nodesx7" for graphs; the parser also takes "28x28" as one channel, and
/// "nodes".
[[nodiscard]] std::string to_string(const Shape& shape);
[[nodiscard]] Shape parse_shape(std::string_view text);

}  // namespace widelimit
