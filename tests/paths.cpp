#include "tests/paths.hpp"

#include <cstdlib>

namespace widelimit {

std::string test::golden_file(const std::string& name) {
  const char* given = std::getenv("WIDELIMIT_GOLDEN");
  return std::string(given != nullptr ? given : WIDELIMIT_TESTS_FOLDER "/golden") + "/" + name;
}

const std::string& test::program_path() {
  static const std::string path = WIDELIMIT_PROGRAM;
  return path;
}

const std::string& test::open_page_script() {
  static const std::string path = WIDELIMIT_TESTS_FOLDER "/report/open_page.py";
  return path;
}

}  // namespace widelimit
