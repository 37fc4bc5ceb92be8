#pragma once

#include "widelimit/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Returns "; did you mean 'relu'?" with the candidate of smallest edit distance, or an empty string if none is close.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

/// Returns the enumerator with name `text`; `names` lists the names in the order of the enumerators. Throws
/// Error{usage} with the valid names and the closest match.
template <typename Value, std::size_t Count>
[[nodiscard]] Value parse_choice(std::string_view what, const std::array<std::string_view, Count>& names,
                                 std::string_view text) {
  for (std::size_t k = 0; k < Count; ++k) {
    if (names[k] == text) return static_cast<Value>(k);
  }
  fail(Code::usage, "unknown {} '{}'; choose one of {}{}", what, text, fmt::join(names, ", "),
       suggestion(text, {names.begin(), names.end()}));
}

}  // namespace widelimit
