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
  bool operator()(bool) const { return true; }
};

std::string bounds(const Bounds& range) {
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  if (!low && !high) return "";
  const std::string lower = fmt::format(" {} {}", range.above_low ? ">" : ">=", shortest(range.low));
  const std::string upper = fmt::format(" <= {}", shortest(range.high));
  return low && high ? fmt::format("{} and{}", lower, upper) : low ? lower : upper;
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
  if (parameter.is<bool>()) return "true or false";
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

std::optional<bool> read_truth(std::string_view text) {
  const std::string lower = lower_case(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  return std::nullopt;
}

std::string shortest(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number == 0 ? 0.0 : number).ptr;
  return {digits.data(), end};
}

}  // namespace widelimit
