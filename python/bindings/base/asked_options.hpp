#pragma once

#include "widelimit/base/error.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <optional>
#include <string>

namespace widelimit::python {

/// What a value of this type is called in a message.
template <typename T>
inline constexpr const char* wanted_kind = std::same_as<T, bool>          ? "True or False"
                                           : std::integral<T>             ? "a whole number in range"
                                           : std::floating_point<T>       ? "a number"
                                           : std::same_as<T, std::string> ? "text"
                                                                          : "values of the kind that is documented";
template <typename T>
inline constexpr const char* wanted_kind<std::optional<T>> = wanted_kind<T>;

/// Options as Python gives them, by name; what is not there, or None, keeps the library's default.
class AskedOptions {
 public:
  explicit AskedOptions(const nanobind::dict& options) : options_(options) {}

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
      fail(Code::usage, "{} is {}; give {}", name, given, wanted_kind<T>);
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
