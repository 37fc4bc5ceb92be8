#pragma once

#include "widelimit/base/error.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <optional>
#include <string>

namespace widelimit::python {

/// Name of this type in an error message.
template <typename T>
inline constexpr const char* expected_type = std::same_as<T, bool>          ? "True or False"
                                             : std::integral<T>             ? "an integer in range"
                                             : std::floating_point<T>       ? "a number"
                                             : std::same_as<T, std::string> ? "text"
                                                                            : "a value of the documented type";
template <typename T>
inline constexpr const char* expected_type<std::optional<T>> = expected_type<T>;

/// A dict of options from Python. An option that is missing or None keeps the default of the library.
class OptionReader {
 public:
  explicit OptionReader(const nanobind::dict& options) : options_(options) {}

  template <typename T>
  void take(const char* name, T& value) const {
    if (const auto found = get(name)) value = read<T>(name, *found);
  }
  template <typename Value, typename Parse>
  void parse(const char* name, Value& value, const Parse& how) const {
    if (const auto found = get(name)) value = how(read<std::string>(name, *found));
  }

 private:
  template <typename T>
  [[nodiscard]] static T read(const char* name, const nanobind::object& value) {
    try {
      return nanobind::cast<T>(value);
    } catch (const nanobind::cast_error&) {
      const std::string given = nanobind::repr(value).c_str();
      fail(Code::usage, "{} is {}; give {}", name, given, expected_type<T>);
    }
  }
  [[nodiscard]] std::optional<nanobind::object> get(const char* name) const {
    if (!options_.contains(name)) return std::nullopt;
    nanobind::object value = options_[name];
    if (value.is_none()) return std::nullopt;
    return value;
  }

  const nanobind::dict& options_;
};

}  // namespace widelimit::python
