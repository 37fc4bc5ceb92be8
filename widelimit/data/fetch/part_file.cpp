#include "widelimit/data/fetch/part_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/fetch/sha256.hpp"
#include "widelimit/data/file/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

/// Returns false if another process has renamed or removed the file since it was opened.
bool has_name(const Descriptor& file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.id(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

fs::path with_ending(fs::path path, const char* ending) { return path += ending; }

}  // namespace

PartFile::PartFile(const fs::path& target)
    : target_(write_target(target)),
      part_(with_ending(target_, ".part")),
      source_(with_ending(target_, ".part.source")) {
  do {
    open();
  } while (!has_name(*file_, part_));
  size_ = file_->size();
}

void PartFile::open() {
  file_.emplace(part_, O_RDWR | O_CREAT | O_APPEND | own_file_flags);
  require_own_file(*file_, part_);
  // A file system without locks is accepted.
  if (::flock(file_->id(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail(Code::resource, "another process is fetching '{}'; wait until it has finished", target_.string());
  }
}

std::string PartFile::validator(const std::string& url) const {
  constexpr std::uint64_t longest_source = 4096;
  std::error_code absent;
  const auto length = fs::file_size(source_, absent);
  if (size_ == 0 || absent || length > longest_source || !fs::is_regular_file(source_, absent)) return {};
  const Blob contents = read_file(source_);
  const std::string_view text = as_text(contents);
  const auto line = text.find('\n');
  if (text.substr(0, line) != url || line == std::string_view::npos) return {};
  const std::string_view rest = text.substr(line + 1);
  return std::string(rest.substr(0, rest.find('\n')));
}

void PartFile::restart(const std::string& url, const std::string& validator) {
  file_->truncate(0);
  size_ = 0;
  write_atomically(source_, fmt::format("{}\n{}\n", url, validator));
}

void PartFile::append(Bytes piece) {
  file_->write(piece);
  size_ += piece.size();
}

std::string PartFile::sha256(const std::function<void()>& wait) const { return file_sha256(part_, wait); }

void PartFile::commit() {
  file_->sync();
  if (::rename(part_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  ::unlink(source_.c_str());
  file_->close();
  // The new name is durable once its folder is synced; if the file system cannot sync folders, this is skipped.
  const Descriptor folder(target_.has_parent_path() ? target_.parent_path() : fs::path("."), O_RDONLY | O_DIRECTORY);
  if (folder.opened()) folder.sync();
}

void PartFile::discard() {
  file_->truncate(0);
  size_ = 0;
  ::unlink(source_.c_str());
  ::unlink(part_.c_str());
}

}  // namespace widelimit
