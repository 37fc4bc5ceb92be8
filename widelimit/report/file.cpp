#include "widelimit/report/file.hpp"

#include "widelimit/base/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace widelimit {
namespace fs = std::filesystem;

std::string read_back(const fs::path& path) {
  const Blob contents = read_file(path);
  return std::string(as_text(contents));
}

TemporaryFolder::TemporaryFolder() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  std::string name = (parent / "widelimit-XXXXXX").string();
  if (failure || ::mkdtemp(name.data()) == nullptr)
    fail(Code::resource, "cannot make a temporary folder {}: {}; set TMPDIR to a writable folder", name,
         failure ? failure.message() : std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace widelimit
