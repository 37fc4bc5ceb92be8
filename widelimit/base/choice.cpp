#include "widelimit/base/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace widelimit {

namespace {

/// Returns the Levenshtein distance, with adjacent transpositions at cost 1. O(|a||b|).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({replaced, table[i - 1][j] + 1, table[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 64;  // longer words are not typing errors, and the distance is quadratic
  std::size_t best = word.size() <= 4 ? 2 : 3;
  if (word.size() > longest) return "";
  const std::string lower = in_lower_case(word);
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edits(lower, in_lower_case(candidate));
    if (distance >= best || distance >= candidate.size()) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace widelimit
