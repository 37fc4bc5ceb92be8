#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// "; did you mean 'relu'?" with the candidate nearest to the word by edits, or nothing where none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace widelimit
