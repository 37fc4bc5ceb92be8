#include "widelimit/base/types.hpp"

#include "widelimit/base/error.hpp"

#include <charconv>
#include <vector>

namespace widelimit {

std::string_view to_string(Precision precision) { return precision == Precision::f32 ? "f32" : "f64"; }

Precision parse_precision(std::string_view text) {
  if (text == "f32") return Precision::f32;
  if (text == "f64") return Precision::f64;
  fail(Code::usage, "precision '{}' is unknown; choose f32 or f64", text);
}

std::string to_string(const Shape& shape) {
  if (shape.nodes) return fmt::format("nodesx{}", shape.channels);
  return shape.is_vector() ? fmt::format("{}", shape.channels)
                           : fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

Shape parse_shape(std::string_view text) {
  constexpr std::string_view graphs = "nodes";
  if (text.starts_with(graphs)) {
    const std::string_view rest = text.substr(graphs.size());
    const Shape features = rest.starts_with("x") ? parse_shape(rest.substr(1)) : Shape{};
    if ((rest.empty() || rest.starts_with("x")) && features.is_vector()) return {1, 1, features.channels, true};
  }
  constexpr Index largest = Index{1} << 24;  // per size; the product stays below 2^48
  std::vector<Index> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  Index product = 1;
  while (sizes.size() < 4) {
    Index size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc{} || size < 1 || size > largest || product > largest) {
      sizes.clear();
      break;
    }
    product *= size;
    sizes.push_back(size);
    at = next;
    if (at == end || (*at != 'x' && *at != 'X')) break;
    ++at;
  }
  if (at == end && sizes.size() == 1) return {1, 1, sizes[0]};
  if (at == end && sizes.size() == 2) return {sizes[0], sizes[1], 1};
  if (at == end && sizes.size() == 3) return {sizes[0], sizes[1], sizes[2]};
  fail(Code::usage, "input shape '{}' is not a size such as 784, 28x28, 32x32x3, or nodesx7 for graphs", text);
}

}  // namespace widelimit
