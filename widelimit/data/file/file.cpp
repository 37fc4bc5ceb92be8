#include "widelimit/data/file/file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/byte_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

/// Signal handlers must not allocate or lock, so there is a fixed number of slots. More files are never written at
/// once; a file without a slot is left behind if a signal ends the program.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> filled{false};
  std::array<char, PATH_MAX> name{};
};
std::array<Slot, 16> slots;
static_assert(std::atomic<bool>::is_always_lock_free);

/// Resolves the links at the end of a path; fs::canonical cannot resolve one whose target does not exist yet.
fs::path without_links(const fs::path& path) {
  std::error_code ignored;
  fs::path target = path;
  constexpr int most_links = 40;
  for (int links = 0; fs::is_symlink(target, ignored) && links < most_links; ++links) {
    target = target.parent_path() / fs::read_symlink(target, ignored);
  }
  return target;
}

}  // namespace

InputFile::InputFile(const fs::path& path) : file_(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) {
  if (!file_.opened()) fail_opening(path, file_.error());
  struct stat status {};
  if (::fstat(file_.id(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(Code::input, "'{}' is not a regular file; give the path of a file", path.string());
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

Blob read_file(const fs::path& path, const ReadLimits& limits) {
  const auto stream = file_stream(path, limits);
  return read_all(*stream, InputFile(path).size(), path.string(), limits);
}

fs::path write_target(const fs::path& path) {
  std::error_code ignored;
  const fs::path target = without_links(path);
  if (path.filename().empty() || (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored))) {
    fail(Code::resource, "cannot write '{}': it exists and is not a regular file", path.string());
  }
  return target;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code absent;
  if (fs::equivalent(a, b, absent)) return true;
  const auto full = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(without_links(path), absent), absent);
  };
  const fs::path first = full(a);
  return !first.empty() && first == full(b);
}

void check_writable(const fs::path& path, std::uint64_t bytes) {
  const fs::path target = write_target(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor nameless(folder, O_RDWR | O_TMPFILE, path);
  if (nameless.opened()) {
    nameless.reserve(bytes);
  } else if (nameless.error() == EOPNOTSUPP || nameless.error() == EISDIR) {
    AtomicFile(path).file().reserve(bytes);  // file system without O_TMPFILE
  } else {
    fail_writing(path, nameless.error());
  }
}

Unfinished::Unfinished(const fs::path& path) {
  // Absolute, since the process may change its folder.
  std::error_code unknown;
  const fs::path absolute = fs::absolute(path, unknown);
  if (unknown || absolute.native().size() >= PATH_MAX) return;
  for (std::size_t k = 0; k < slots.size() && !slot_; ++k) {
    if (slots[k].taken.exchange(true)) continue;
    std::memcpy(slots[k].name.data(), absolute.c_str(), absolute.native().size() + 1);
    slots[k].filled = true;
    slot_ = k;
  }
}

Unfinished::~Unfinished() {
  if (!slot_) return;
  slots[*slot_].filled = false;
  slots[*slot_].taken = false;
}

void remove_unfinished() noexcept {
  for (const Slot& slot : slots) {
    if (slot.filled) ::unlink(slot.name.data());
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
  unfinished_.emplace(temporary_);
}

AtomicFile::~AtomicFile() {
  if (file_->opened()) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  file_->sync();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  unfinished_.reset();
  file_->close();
}

void write_atomically(const fs::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.file().write(as_bytes(contents));
  file.commit();
}

}  // namespace widelimit
