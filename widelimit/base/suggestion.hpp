#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Returns "; did you mean 'relu'?" with the candidate of smallest edit distance, or an empty string if none is close.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace widelimit
