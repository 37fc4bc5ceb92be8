#include "widelimit/network/value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace widelimit {

namespace {

bool within(const Bounds& range, double number) {
  return std::isfinite(number) && (range.above_low ? number > range.low : number >= range.low) && number <= range.high;
}

struct Accepts {
  const Parameter& parameter;

  bool operator()(double number) const { return within(parameter.range, number); }
  bool operator()(Index count) const { return within(parameter.range, static_cast<double>(count)); }
  bool operator()(const Extent& extent) const { return (*this)(extent.rows) && (*this)(extent.cols); }
  bool operator()(Padding) const { return true; }
  bool operator()(const std::vector<double>& list) const {
    return (*this)(static_cast<Index>(list.size())) &&
           std::all_of(list.begin(), list.end(), [](double x) { return std::isfinite(x); });
  }
  bool operator()(const std::string& word) const {
    const auto& choices = parameter.choices;
    return choices.empty() ? is_word(word) : std::find(choices.begin(), choices.end(), word) != choices.end();
  }
  bool operator()(const Layers& layers) const { return !layers.empty(); }
};

std::string bounds(const Bounds& range) {
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  if (!low && !high) return "";
  const std::string lower = fmt::format(" {} {}", range.above_low ? ">" : ">=", shortest(range.low));
  const std::string upper = fmt::format(" <= {}", shortest(range.high));
  return low && high ? fmt::format("{} and{}", lower, upper) : low ? lower : upper;
}

/// Levenshtein's distance, two neighbours swapped counting as one slip. O(|a||b|).
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

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

bool accepts(const Parameter& parameter, const Value& value) {
  return value.index() == parameter.type && std::visit(Accepts{parameter}, value);
}

std::string accepted(const Parameter& parameter) {
  const Bounds& range = parameter.range;
  if (parameter.is<double>()) return fmt::format("a finite number{}", bounds(range));
  if (parameter.is<Index>()) return fmt::format("a whole number{}", bounds(range));
  if (parameter.is<Extent>()) return fmt::format("whole sizes such as 3x3 or 3, each{}", bounds(range));
  if (parameter.is<Padding>()) return "SAME, VALID or CIRCULAR";
  if (parameter.is<std::vector<double>>()) {
    return fmt::format("{} to {} finite numbers such as [0.1,0.5]", shortest(range.low), shortest(range.high));
  }
  if (parameter.is<Layers>()) return "a list of at least one layer";
  if (parameter.choices.empty()) return "a word of letters, digits and underscores";
  return fmt::format("{}{}", parameter.choices.size() > 1 ? "one of " : "", fmt::join(parameter.choices, ", "));
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool read_padding(std::string_view text, Padding& padding) {
  const std::string lower = lower_case(text);
  for (const Padding candidate : {Padding::same, Padding::valid, Padding::circular}) {
    if (lower_case(to_string(candidate)) != lower) continue;
    padding = candidate;
    return true;
  }
  return false;
}

std::string shortest(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number == 0 ? 0.0 : number).ptr;
  return {digits.data(), end};
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 64;  // what is longer is no slip of a key, and its distance is not worth its cost
  std::size_t best = word.size() <= 4 ? 2 : 3;
  if (word.size() > longest) return "";
  const std::string lower = lower_case(word);
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edits(lower, candidate);
    if (distance >= best || distance >= candidate.size()) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace widelimit
