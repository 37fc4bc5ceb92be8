#include "widelimit/network/forms.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/network/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace widelimit {

std::string to_text(const Layer& layer) {
  const Form& form = form_of(layer);
  std::vector<std::string> plain;
  std::vector<std::string> nested;
  for (const Argument& argument : form.arguments) {
    if (!form.must_write(argument, layer)) continue;
    const std::string value = write_value(argument.get(layer));
    if (argument.parameter.is<Layers>()) {
      nested.push_back(value);
    } else {
      plain.push_back(fmt::format("{}={}", argument.parameter.name, value));
    }
  }
  std::string text(form.name);
  if (!plain.empty()) text += fmt::format("({})", fmt::join(plain, ", "));
  if (!nested.empty()) text += fmt::format("{{ {} }}", fmt::join(nested, " | "));
  return text;
}

std::string write_text(const Layers& layers) {
  std::string text;
  for (const Layer& layer : layers) {
    if (!text.empty()) text += ' ';
    text += to_text(layer);
  }
  return text;
}

}  // namespace widelimit
