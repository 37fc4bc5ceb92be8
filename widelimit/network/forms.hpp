#pragma once

#include "widelimit/network/value.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace widelimit {

/// Default of an argument.
enum class Absent : std::uint8_t {
  prototype,  ///< the value in the prototype of the layer
  required,   ///< no default, the argument must be given
  as_window,  ///< the value of the argument `window`
};

/// One argument of a layer: name and range in the text form, and access to the member.
struct Argument {
  Parameter parameter;
  Absent absent = Absent::prototype;
  std::function<Value(const Layer&)> get;
  std::function<void(Layer&, Value)> set;
};

/// Text form of one layer. The text and JSON readers and writers and the range checks use only this table and do not
/// depend on individual layers. A new layer needs its struct, its entry in forms.cpp, and the std::visit overloads that
/// the compiler then reports as missing.
struct Form {
  std::string_view name;
  Layer prototype;  ///< every argument at its default
  std::vector<Argument> arguments;

  [[nodiscard]] const Argument* find(std::string_view argument) const;
  /// Returns e.g. "w_std, b_std", or "no arguments".
  [[nodiscard]] std::string argument_names() const;
  /// Sets arguments that were not written and default to others; `written` flags those that were. Returns the first
  /// required argument that is missing, or nullptr.
  [[nodiscard]] const Argument* complete(Layer& layer, const std::vector<bool>& written) const;
  /// False if the reader would set the same value without it.
  [[nodiscard]] bool must_write(const Argument& argument, const Layer& layer) const;
};

/// All layers, in the order of the help text.
[[nodiscard]] const std::vector<Form>& forms();
/// Returns nullptr if no layer has this name.
[[nodiscard]] const Form* find_form(std::string_view name);
[[nodiscard]] const Form& form_of(const Layer& layer);
[[nodiscard]] std::vector<std::string_view> layer_names();

/// Maximal nesting of residuals, and maximal number of layers of a network; bound stack and memory for untrusted input.
inline constexpr Index max_nesting = 64;
inline constexpr Index max_layers = 100'000;

}  // namespace widelimit
