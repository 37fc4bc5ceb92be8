#include "widelimit/report/file.hpp"

#include "widelimit/base/error.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace widelimit {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& path, std::string_view why) {
  fail(Code::resource, "cannot write {}: {}; choose a folder that exists, may be written and has room", path.string(),
       why);
}

bool write_plainly(const fs::path& path, std::string_view contents) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  out.close();
  return static_cast<bool>(out);
}

/// Unique among the threads of this process and the processes of this machine; not mkstemp, whose mode 0600 would
/// stay with the report after the rename.
fs::path sibling_of(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  fs::path sibling = target;
  sibling += fmt::format(".{}-{}.part", ::getpid(), counter++);
  return sibling;
}

}  // namespace

void write_atomically(const fs::path& path, std::string_view contents) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (path.filename().empty() || fs::is_directory(status)) fail_to_write(path, "it names a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (!write_plainly(path, contents)) fail_to_write(path, std::strerror(errno));
    return;
  }
  const fs::path target = fs::exists(status) ? fs::canonical(path, failure) : path;
  if (failure && fs::exists(status)) fail_to_write(path, failure.message());
  const fs::path part = sibling_of(target);
  errno = 0;
  if (!write_plainly(part, contents)) {
    const int reason = errno;
    fs::remove(part, failure);
    fail_to_write(path, reason == 0 ? "the write failed" : std::strerror(reason));
  }
  fs::rename(part, target, failure);
  if (failure) {
    const std::string why = failure.message();
    fs::remove(part, failure);
    fail_to_write(path, why);
  }
}

std::string read_back(const fs::path& path) {
  std::error_code failure;
  const auto size = fs::file_size(path, failure);
  std::string contents(failure ? 0 : size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(contents.data(), static_cast<std::streamsize>(contents.size()));
  if (failure || !in) fail(Code::resource, "cannot read {} back: check the disk and its permissions", path.string());
  return contents;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  std::string name = (parent / "widelimit-XXXXXX").string();
  if (failure || ::mkdtemp(name.data()) == nullptr)
    fail(Code::resource, "cannot make a temporary folder {}: {}; set TMPDIR to a folder that may be written", name,
         failure ? failure.message() : std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace widelimit
