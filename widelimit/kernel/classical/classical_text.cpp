#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/classical/arccosine.hpp"
#include "widelimit/kernel/classical/classical.hpp"

#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace widelimit {

namespace {

using Name = ClassicalKernel::Name;

/// Name of a kernel and the parameters it takes.
struct Entry {
  Name name;
  std::string_view text;
  bool gamma;
  bool offset;
  bool degree;
};

constexpr std::array<Entry, 5> classical_entries{{{Name::linear, "linear", false, false, false},
                                                  {Name::polynomial, "polynomial", true, true, true},
                                                  {Name::rbf, "rbf", true, false, false},
                                                  {Name::laplace, "laplace", true, false, false},
                                                  {Name::arccosine, "arccosine", false, false, true}}};

constexpr Index max_polynomial_degree = 1000;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

const Entry& find_entry(std::string_view name) {
  for (const Entry& entry : classical_entries) {
    if (entry.text == name) return entry;
  }
  std::vector<std::string_view> names;
  for (const Entry& entry : classical_entries) names.push_back(entry.text);
  fail(Code::input, "classical kernel '{}' is unknown; expected {}{}", name, fmt::join(names, ", "),
       suggestion(name, names));
}

const Entry& entry_of(Name name) { return classical_entries[static_cast<std::size_t>(name)]; }

std::string arguments_of(const Entry& entry) {
  std::vector<std::string_view> names;
  if (entry.gamma) names.push_back("gamma");
  if (entry.offset) names.push_back("offset");
  if (entry.degree) names.push_back("degree");
  return names.empty() ? "no argument" : fmt::format("{}", fmt::join(names, ", "));
}

template <typename Number>
Number parse_number(std::string_view text, std::string_view kernel, std::string_view argument) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) {
    fail(Code::input, "{}: {} = '{}' is not {}", kernel, argument, text,
         std::is_integral_v<Number> ? "a whole number" : "a number");
  }
  return value;
}

void read_argument(ClassicalKernel& kernel, const Entry& entry, std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view key = trim(text.substr(0, equals));
  const std::string_view value = equals == std::string_view::npos ? "" : trim(text.substr(equals + 1));
  if (entry.gamma && key == "gamma") {
    kernel.gamma = parse_number<double>(value, entry.text, key);
  } else if (entry.offset && key == "offset") {
    kernel.offset = parse_number<double>(value, entry.text, key);
  } else if (entry.degree && key == "degree") {
    kernel.degree = parse_number<Index>(value, entry.text, key);
  } else {
    fail(Code::input, "{}: argument '{}' is unknown; expected {}", entry.text, text, arguments_of(entry));
  }
}

}  // namespace

void ClassicalKernel::validate() const {
  const Entry& entry = entry_of(name);
  if (entry.gamma && gamma && !(std::isfinite(*gamma) && *gamma > 0.0)) {
    fail(Code::input, "{}: gamma = {} must be positive and finite", entry.text, *gamma);
  }
  if (entry.offset && !std::isfinite(offset)) fail(Code::input, "{}: offset = {} must be finite", entry.text, offset);
  const Index least = name == Name::arccosine ? 0 : 1;
  const Index most = name == Name::arccosine ? ArccosineKernel::max_order : max_polynomial_degree;
  if (entry.degree && (degree < least || degree > most)) {
    fail(Code::input, "{}: degree = {} is outside {} … {}", entry.text, degree, least, most);
  }
}

ClassicalKernel ClassicalKernel::parse(std::string_view text) {
  const std::string_view all = trim(text);
  const auto open = all.find('(');
  const Entry& entry = find_entry(trim(all.substr(0, open)));
  ClassicalKernel kernel{.name = entry.name, .gamma = {}, .offset = 1.0, .degree = 3};
  if (open != std::string_view::npos) {
    if (all.back() != ')') fail(Code::input, "{}: the argument list of '{}' is not closed by ')'", entry.text, all);
    std::string_view rest = trim(all.substr(open + 1, all.size() - open - 2));
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      read_argument(kernel, entry, trim(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest = trim(rest.substr(comma + 1));
      if (rest.empty()) fail(Code::input, "{}: an argument is missing after the last comma", entry.text);
    }
  }
  kernel.validate();
  return kernel;
}

std::string ClassicalKernel::to_text() const {
  const Entry& entry = entry_of(name);
  const ClassicalKernel defaults;
  std::vector<std::string> arguments;
  if (entry.gamma && gamma) arguments.push_back(fmt::format("gamma={}", *gamma));
  if (entry.offset && offset != defaults.offset) arguments.push_back(fmt::format("offset={}", offset));
  if (entry.degree && degree != defaults.degree) arguments.push_back(fmt::format("degree={}", degree));
  if (arguments.empty()) return std::string(entry.text);
  return fmt::format("{}({})", entry.text, fmt::join(arguments, ", "));
}

}  // namespace widelimit
