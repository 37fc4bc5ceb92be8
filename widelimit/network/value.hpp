#pragma once

#include "widelimit/network/layer.hpp"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace widelimit {

/// What an argument of a layer or of a preset can be. Text and JSON each know how to read and write these eight
/// types and nothing about the layers that use them. An argument that is not there is an empty list of layers.
using Value = std::variant<double, Index, Extent, Padding, std::vector<double>, std::string, Layers, bool>;

/// Bounds of a number, of both sizes of an extent, or of the length of a list.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  ///< `low` itself is left out
};

/// Name and type of an argument, and which values of the type it takes.
struct Parameter {
  std::string_view name;
  std::size_t type = 0;  ///< the index of its alternative in Value
  Bounds range;
  std::vector<std::string_view> choices;  ///< of a word; empty: any word

  template <typename T>
  [[nodiscard]] bool is() const {
    return type == Value(T{}).index();
  }
};

/// Right type and within range; a list or a number must be finite.
[[nodiscard]] bool accepts(const Parameter& parameter, const Value& value);
/// What accepts() wants, to stand after "it takes": "a number >= 0", "sizes such as 3x3 or 3, each from 1 to 4095".
[[nodiscard]] std::string accepted(const Parameter& parameter);

/// Letters, digits, underscore; at least one.
[[nodiscard]] bool is_word(std::string_view text);
/// SAME, VALID, CIRCULAR in any case; false where it is none of them.
[[nodiscard]] bool read_padding(std::string_view text, Padding& padding);
/// "true" or "false" in any case; nothing where it is neither.
[[nodiscard]] std::optional<bool> read_truth(std::string_view text);

/// The shortest decimal that reads back as the same number; both zeros are "0", since they are equal.
[[nodiscard]] std::string shortest(double number);

}  // namespace widelimit
