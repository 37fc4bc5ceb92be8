#pragma once

#include <cstdlib>
#include <string>

namespace widelimit::test {

/// A file of golden values: of the tree, or of the folder that a bundle of tests brings.
inline std::string golden_file(const std::string& name) {
  const char* brought = std::getenv("WIDELIMIT_GOLDEN");
  return std::string(brought != nullptr ? brought : WIDELIMIT_GOLDEN) + "/" + name;
}

}  // namespace widelimit::test
