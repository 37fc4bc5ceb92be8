#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

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

/// Raises widelimit.InputTypeError, an InputError and a TypeError: the option is this value, not what is expected.
[[noreturn]] void fail_type(const char* name, nanobind::handle value, const char* expected);

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
  /// Like parse, but raises InputTypeError if the option is None.
  template <typename Value, typename Parse>
  void parse_required(const char* name, Value& value, const Parse& how) const {
    if (!get(name)) fail_type(name, nanobind::none(), expected_type<std::string>);
    parse(name, value, how);
  }

 private:
  template <typename T>
  [[nodiscard]] static T read(const char* name, const nanobind::object& value) {
    try {
      return nanobind::cast<T>(value);
    } catch (const nanobind::cast_error&) {
      fail_type(name, value, expected_type<T>);
    }
  }
  /// nanobind converts numbers of NumPy, but not its booleans.
  [[nodiscard]] static bool is_numpy_bool(nanobind::handle value) {
    const std::string_view type = Py_TYPE(value.ptr())->tp_name;
    return type == "numpy.bool" || type == "numpy.bool_";
  }
  [[nodiscard]] std::optional<nanobind::object> get(const char* name) const {
    if (!options_.contains(name)) return std::nullopt;
    nanobind::object value = options_[name];
    if (value.is_none()) return std::nullopt;
    return is_numpy_bool(value) ? nanobind::bool_(PyObject_IsTrue(value.ptr()) == 1) : value;
  }

  const nanobind::dict& options_;
};

}  // namespace widelimit::python
