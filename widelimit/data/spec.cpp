#include "widelimit/data/spec.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/number.hpp"

#include <algorithm>

namespace widelimit {

DataSpec parse_spec(std::string_view text) {
  DataSpec spec;
  const auto open = text.find('(');
  std::string_view arguments;
  if (open != std::string_view::npos) {
    if (text.back() != ')') fail(Code::usage, "data '{}': the parenthesis never closes", text);
    arguments = text.substr(open + 1, text.size() - open - 2);
  }
  const std::string_view name = text.substr(0, open);
  const auto colon = name.find(':');
  spec.name = name.substr(0, colon);
  if (colon != std::string_view::npos) spec.part = name.substr(colon + 1);
  while (!arguments.empty()) {
    const auto comma = std::min(arguments.find(','), arguments.size());
    const std::string_view argument = arguments.substr(0, comma);
    const auto equals = argument.find('=');
    if (equals == std::string_view::npos || trimmed(argument.substr(0, equals)).empty()) {
      fail(Code::usage, "data '{}': argument '{}' is not key=value", text, argument);
    }
    spec.arguments.insert_or_assign(std::string(trimmed(argument.substr(0, equals))),
                                    std::string(trimmed(argument.substr(equals + 1))));
    arguments.remove_prefix(std::min(comma + 1, arguments.size()));
  }
  return spec;
}

}  // namespace widelimit
