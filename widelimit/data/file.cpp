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

[[noreturn]] void fail_writing(const fs::path& path, int error) {
  fail(Code::resource, "cannot write '{}': {}; free some space or choose another path", path.string(),
       std::strerror(error));
}

struct Descriptor {
  int id;
  ~Descriptor() {
    if (id >= 0) ::close(id);
  }
};

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
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.id < 0) fail(Code::input, "cannot open '{}': {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (::fstat(file.id, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(Code::input, "'{}' is not a regular file; give the path of a data file", path.string());
  }
  try {
    Blob blob(static_cast<std::size_t>(status.st_size));
    blob.resize(read_into(file.id, blob, path));
    return blob;
  } catch (const std::bad_alloc&) {
    fail(Code::resource, "'{}' has {} bytes, more than the memory left", path.string(), status.st_size);
  }
}

AtomicFile::AtomicFile(const fs::path& target) : target_(target) {
  static std::atomic<unsigned> counter{0};
  std::error_code ignored;
  // Renaming onto a link would replace the link, onto a device the device.
  if (fs::is_symlink(target_, ignored)) target_ = fs::weakly_canonical(target_, ignored);
  if (fs::exists(target_, ignored) && !fs::is_regular_file(target_, ignored)) {
    fail(Code::resource, "cannot write '{}': it exists and is not a regular file", target.string());
  }
  do {
    temporary_ = target_;
    temporary_ += fmt::format(".part-{}-{}", ::getpid(), counter++);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_writing(target, errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing(target_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::write_at(std::size_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing(target_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::size_t>(put);
  }
}

void AtomicFile::require_space(std::size_t bytes) {
  if (bytes == 0) return;
  const int error = ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  // A file system without reservations has to be taken at its word later.
  if (error != 0 && error != EOPNOTSUPP && error != ENOSYS) fail_writing(target_, error);
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_writing(target_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace widelimit
