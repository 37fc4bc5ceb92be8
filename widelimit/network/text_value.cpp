#include "widelimit/network/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace widelimit {

namespace {

template <typename T>
std::optional<T> whole_text(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

std::optional<Extent> read_extent(std::string_view text) {
  const auto cross = text.find_first_of("xX");
  const auto rows = whole_text<Index>(text.substr(0, cross));
  const auto cols = cross == std::string_view::npos ? rows : whole_text<Index>(text.substr(cross + 1));
  if (!rows || !cols) return std::nullopt;
  return Extent{*rows, *cols};
}

std::optional<std::vector<double>> read_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::string_view rest = without_blanks(text.substr(1, text.size() - 2));
  std::vector<double> list;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const auto number = whole_text<double>(without_blanks(rest.substr(0, comma)));
    if (!number) return std::nullopt;
    list.push_back(*number);
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return std::nullopt;
  }
  return list;
}

template <typename T>
std::optional<Value> as_value(std::optional<T> read) {
  if (!read) return std::nullopt;
  return Value(*std::move(read));
}

struct TextValue {
  std::string operator()(double number) const { return shortest(number); }
  std::string operator()(Index count) const { return fmt::format("{}", count); }
  std::string operator()(const Extent& extent) const { return fmt::format("{}x{}", extent.rows, extent.cols); }
  std::string operator()(Padding padding) const { return std::string(to_string(padding)); }
  std::string operator()(const std::vector<double>& list) const {
    std::vector<std::string> numbers;
    for (const double number : list) numbers.push_back(shortest(number));
    return fmt::format("[{}]", fmt::join(numbers, ","));
  }
  std::string operator()(const std::string& word) const { return word; }
  std::string operator()(const Layers& layers) const { return write_text(layers); }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
};

}  // namespace

std::optional<Value> read_value(const Parameter& parameter, std::string_view text) {
  if (parameter.is<double>()) return as_value(whole_text<double>(text));
  if (parameter.is<Index>()) return as_value(whole_text<Index>(text));
  if (parameter.is<Extent>()) return as_value(read_extent(text));
  if (parameter.is<std::vector<double>>()) return as_value(read_list(text));
  if (parameter.is<std::string>()) return Value(std::string(text));
  if (parameter.is<bool>()) return as_value(read_truth(text));
  Padding padding{};
  if (parameter.is<Padding>() && read_padding(text, padding)) return Value(padding);
  return std::nullopt;
}

std::string write_value(const Value& value) { return std::visit(TextValue{}, value); }

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace widelimit
