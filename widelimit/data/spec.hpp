#pragma once

#include <map>
#include <string>
#include <string_view>

namespace widelimit {

/// How a user names data: `name`, `name:part`, either with arguments: `spirals(n=200,noise=0.1)`.
struct DataSpec {
  std::string name;
  std::string part;
  std::map<std::string, std::string> arguments;
};

/// Error{usage} for parentheses that do not close, and for arguments that are not key=value.
[[nodiscard]] DataSpec parse_spec(std::string_view text);

}  // namespace widelimit
