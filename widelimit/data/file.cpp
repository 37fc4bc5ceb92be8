#include "widelimit/data/file.hpp"

#include "widelimit/base/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

/// Reads until `blob` is full or the file ends, and returns how far it came.
std::size_t read_into(int descriptor, Blob& blob, const fs::path& path) {
  std::size_t done = 0;
  while (done < blob.size()) {
    const ssize_t got = ::read(descriptor, blob.data() + done, blob.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Code::input, "cannot read '{}': {}", path.string(), std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

Blob read_file(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file.opened()) fail(Code::input, "cannot open '{}': {}", path.string(), std::strerror(file.error()));
  struct stat status {};
  if (::fstat(file.id(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(Code::input, "'{}' is not a regular file; give the path of a data file", path.string());
  }
  try {
    Blob blob(static_cast<std::size_t>(status.st_size));
    blob.resize(read_into(file.id(), blob, path));
    return blob;
  } catch (const std::bad_alloc&) {
    fail(Code::resource, "'{}' has {} bytes, more than the memory left", path.string(), status.st_size);
  }
}

fs::path write_target(const fs::path& path) {
  std::error_code ignored;
  fs::path target = path;
  // A link to a file that is still to come cannot be resolved as a whole.
  constexpr int most_links = 40;
  for (int links = 0; fs::is_symlink(target, ignored) && links < most_links; ++links) {
    target = target.parent_path() / fs::read_symlink(target, ignored);
  }
  if (path.filename().empty() || (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored))) {
    fail(Code::resource, "cannot write '{}': it exists and is not a regular file", path.string());
  }
  return target;
}

void check_writable(const fs::path& path, std::uint64_t bytes) {
  const fs::path target = write_target(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor nameless(folder, O_RDWR | O_TMPFILE, path);
  if (nameless.opened()) {
    nameless.reserve(bytes);
  } else if (nameless.error() == EOPNOTSUPP || nameless.error() == EISDIR) {
    AtomicFile(path).file().reserve(bytes);  // a file system without nameless files
  } else {
    fail_writing(path, nameless.error());
  }
}

AtomicFile::AtomicFile(const fs::path& target) : target_(write_target(target)) {
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = target_;
    temporary_ += fmt::format(".part-{}-{}", ::getpid(), counter++);
    file_.emplace(temporary_, O_RDWR | O_CREAT | O_EXCL, target);
  } while (!file_->opened() && file_->error() == EEXIST);
  if (!file_->opened()) fail_writing(target, file_->error());
}

AtomicFile::~AtomicFile() {
  if (file_->opened()) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  file_->sync();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  file_->close();
}

}  // namespace widelimit
