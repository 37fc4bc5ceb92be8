#pragma once

#include "widelimit/network/value.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace widelimit {

/// The default of an argument.
enum class Absent : std::uint8_t {
  prototype,  ///< the value that the layer's struct starts with
  required,   ///< it must be written
  as_window,  ///< the value of the argument `window`
};

/// One argument of a layer: its written name and range, and the member it stands for.
struct Argument {
  Parameter parameter;
  Absent absent = Absent::prototype;
  std::function<Value(const Layer&)> get;
  std::function<void(Layer&, Value)> set;
};

/// The written form of one layer. The text reader, the text writer, the JSON reader, the JSON writer and the checks
/// of values all read this and know no layer by name: a new layer is its struct, its entry in forms.cpp, and what the
/// compiler then asks of the readers that give it a meaning.
struct Form {
  std::string_view name;
  Layer prototype;  ///< every argument at its default
  std::vector<Argument> arguments;

  [[nodiscard]] const Argument* find(std::string_view argument) const;
  /// "w_std, b_std", or "no arguments".
  [[nodiscard]] std::string argument_names() const;
  /// Sets arguments that were not written and follow others; `written` says which were. Returns the first required
  /// one that is missing, or nullptr.
  [[nodiscard]] const Argument* complete(Layer& layer, const std::vector<bool>& written) const;
  /// False where the reader would come to the same value without it.
  [[nodiscard]] bool must_write(const Argument& argument, const Layer& layer) const;
};

/// All layers, in the order in which help lists them.
[[nodiscard]] const std::vector<Form>& forms();
/// nullptr where no layer has this name.
[[nodiscard]] const Form* find_form(std::string_view name);
[[nodiscard]] const Form& form_of(const Layer& layer);
[[nodiscard]] std::vector<std::string_view> layer_names();

/// Deepest nesting of residuals, and most layers of one network, so that hostile text cannot exhaust stack or memory.
inline constexpr Index max_nesting = 64;
inline constexpr Index max_layers = 100'000;

}  // namespace widelimit
