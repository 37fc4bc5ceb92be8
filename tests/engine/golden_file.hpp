#pragma once

#include <cstdlib>
#include <string>

namespace widelimit::test {

/// Returns the path of a golden file, in the source tree or in the folder of a test bundle.
inline std::string golden_file(const std::string& name) {
  const char* brought = std::getenv("WIDELIMIT_GOLDEN");
  return std::string(brought != nullptr ? brought : WIDELIMIT_GOLDEN) + "/" + name;
}

}  // namespace widelimit::test
