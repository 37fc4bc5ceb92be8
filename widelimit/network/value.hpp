#pragma once

#include "widelimit/network/layer.hpp"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace widelimit {

/// Value of an argument of a layer or of a preset. The text and JSON readers and writers handle these eight types and
/// are independent of the layers that use them. An absent argument of type Layers is an empty list.
using Value = std::variant<double, Index, Extent, Padding, std::vector<double>, std::string, Layers, bool>;

/// Bounds of a number, of both sizes of an extent, or of the length of a list.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  ///< exclude `low` itself
};

/// Name, type and allowed values of an argument.
struct Parameter {
  std::string_view name;
  std::size_t type = 0;  ///< index of the alternative in Value
  Bounds range;
  std::vector<std::string_view> choices;  ///< allowed words; empty: any word

  template <typename T>
  [[nodiscard]] bool is() const {
    return type == Value(T{}).index();
  }
};

/// Whether the value has the right type and is in range; numbers and list entries must be finite.
[[nodiscard]] bool accepts(const Parameter& parameter, const Value& value);
/// Describes the accepted values, as continuation of "it takes": "a number >= 0", "sizes such as 3x3 or 3, each from 1
/// to 4095".
[[nodiscard]] std::string accepted(const Parameter& parameter);

/// Letters, digits, underscore; not empty.
[[nodiscard]] bool is_word(std::string_view text);
/// Parses SAME, VALID, CIRCULAR, case-insensitively; returns false for anything else.
[[nodiscard]] bool read_padding(std::string_view text, Padding& padding);
/// Parses "true" or "false", case-insensitively; returns std::nullopt for anything else.
[[nodiscard]] std::optional<bool> read_truth(std::string_view text);

/// Shortest decimal that parses to the same number; both zeros give "0", since they are equal.
[[nodiscard]] std::string shortest(double number);

}  // namespace widelimit
