#include "widelimit/data/descriptor.hpp"

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
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? "free some space or choose another path" : "choose another path";
}

}  // namespace

void fail_writing(const fs::path& path, int error) {
  fail(Code::resource, "cannot write '{}': {}; {}", path.string(), std::strerror(error), writing_advice(error));
}

Descriptor::Descriptor(const fs::path& path, int flags, const fs::path& shown)
    : shown_(shown), id_(::open(path.c_str(), flags | O_CLOEXEC, 0666)), error_(id_ < 0 ? errno : 0) {}

void Descriptor::close() {
  if (opened()) ::close(id_);
  id_ = -1;
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
