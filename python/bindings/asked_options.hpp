#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

namespace widelimit::python {

/// Options as Python gives them, by name; what is not there, or None, keeps the library's default.
class AskedOptions {
 public:
  explicit AskedOptions(const nanobind::dict& options) : options_(options) {}

  template <typename T>
  void take(const char* name, T& value) const {
    if (const auto found = get(name)) value = nanobind::cast<T>(*found);
  }
  template <typename Value, typename Parse>
  void parse(const char* name, Value& value, const Parse& how) const {
    if (const auto found = get(name)) value = how(nanobind::cast<std::string>(*found));
  }

 private:
  [[nodiscard]] std::optional<nanobind::object> get(const char* name) const {
    if (!options_.contains(name)) return std::nullopt;
    nanobind::object value = options_[name];
    if (value.is_none()) return std::nullopt;
    return value;
  }

  const nanobind::dict& options_;
};

}  // namespace widelimit::python
