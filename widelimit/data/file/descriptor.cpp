#include "widelimit/data/file/descriptor.hpp"

#include "widelimit/base/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

const char* writing_advice(int error) {
  if (error == ENOENT) return "make its folder first, or choose another path";
  if (error == EMFILE || error == ENFILE) return "raise the limit of open files (ulimit -n)";
  if (error == ELOOP) return "it is a symbolic link; remove the link or choose another path";
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? "free some space or choose another path" : "choose another path";
}

}  // namespace

void fail_writing(const fs::path& path, int error) {
  fail(Code::resource, "cannot write '{}': {}; {}", path.string(), std::strerror(error), writing_advice(error));
}

const int own_file_flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

void require_own_file(const Descriptor& file, const fs::path& path) {
  if (!file.opened()) fail_writing(path, file.error());
  struct stat status {};
  if (::fstat(file.id(), &status) != 0) fail_writing(path, errno);
  if (!S_ISREG(status.st_mode) || status.st_nlink > 1) {
    fail(Code::resource, "cannot write '{}': it was not made by widelimit; move it out of the way", path.string());
  }
}

void fail_opening(const fs::path& path, int error) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM) {
    fail(Code::resource, "cannot open '{}': {}; raise the limits of this process (ulimit -n, ulimit -v)", path.string(),
         std::strerror(error));
  }
  fail(Code::input, "cannot open '{}': {}", path.string(), std::strerror(error));
}

Descriptor::Descriptor(const fs::path& path, int flags, const fs::path& shown)
    : path_(path), shown_(shown), id_(::open(path.c_str(), flags | O_CLOEXEC, 0666)), error_(id_ < 0 ? errno : 0) {}

void Descriptor::close() {
  if (opened()) ::close(id_);
  id_ = -1;
}

fs::path Descriptor::own_path() const {
  fs::path own = fmt::format("/proc/self/fd/{}", id_);
  return ::access(own.c_str(), F_OK) == 0 ? own : path_;  // /proc is not mounted
}

std::size_t Descriptor::read(std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(id_, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Code::input, "cannot read '{}': {}", shown_.string(), std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void Descriptor::write(Bytes bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::write(id_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing(shown_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void Descriptor::write_at(std::uint64_t offset, Bytes bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(id_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_writing(shown_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void Descriptor::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(id_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Code::input, "cannot read '{}': {}", shown_.string(), std::strerror(errno));
    if (got == 0) fail(Code::input, "'{}' ends too early; it is damaged", shown_.string());
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

std::uint64_t Descriptor::size() const {
  struct stat status {};
  if (::fstat(id_, &status) != 0) fail_writing(shown_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void Descriptor::reserve(std::uint64_t bytes) const {
  const int error = bytes == 0 || ::fallocate(id_, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  if (error != 0 && error != EOPNOTSUPP && error != ENOSYS) fail_writing(shown_, error);
}

void Descriptor::truncate(std::uint64_t bytes) const {
  if (::ftruncate(id_, static_cast<off_t>(bytes)) != 0) fail_writing(shown_, errno);
}

void Descriptor::sync() const {
  if (::fsync(id_) != 0 && errno != EINVAL) fail_writing(shown_, errno);
}

}  // namespace widelimit
