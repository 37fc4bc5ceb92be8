#include "widelimit/data/formats/archive.hpp"

#include "widelimit/base/error.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <exception>

namespace widelimit {

namespace fs = std::filesystem;

/// Callback state of libarchive. Exceptions must not pass through C frames: they are stored and rethrown by the caller.
struct Archive::Source {
  std::unique_ptr<ByteStream> stream;
  std::exception_ptr failure;

  static la_ssize_t read(archive* handle, void* self, const void** piece) {
    auto& source = *static_cast<Source*>(self);
    try {
      const Bytes bytes = source.stream->next();
      *piece = bytes.data();
      return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
      source.failure = std::current_exception();
      archive_set_error(handle, -1, "its source failed");
      return -1;
    }
  }

  [[noreturn]] void fail_reading(archive* handle, const std::string& name) const {
    if (failure) std::rethrow_exception(failure);
    const char* reason = archive_error_string(handle);
    fail(Code::input, "{}: not a readable archive ({}); the file may be damaged", name,
         reason != nullptr ? reason : "no reason given");
  }
};

void Archive::Close::operator()(archive* handle) const noexcept { archive_read_free(handle); }

Archive::Archive(const fs::path& path, const ReadLimits& limits)
    : source_(path.string()),
      limits_(limits),
      packed_(std::make_unique<Source>(Source{unpacked_stream(file_stream(path, limits), source_, limits), {}})),
      handle_(archive_read_new()) {
  archive_read_support_format_tar(handle_.get());
  if (archive_read_open(handle_.get(), packed_.get(), nullptr, &Source::read, nullptr) != ARCHIVE_OK) {
    packed_->fail_reading(handle_.get(), source_);
  }
}

Archive::~Archive() = default;

bool Archive::next() {
  archive_entry* entry = nullptr;
  for (;;) {
    const int outcome = archive_read_next_header(handle_.get(), &entry);
    if (outcome == ARCHIVE_EOF) break;
    if (outcome != ARCHIVE_OK && outcome != ARCHIVE_WARN) packed_->fail_reading(handle_.get(), source_);
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    member_ = name != nullptr ? name : "";
    expected_ = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    return true;
  }
  // Reads the padding and the checksum that follow.
  while (!packed_->stream->next().empty()) {
  }
  return false;
}

Blob Archive::read() {
  const std::string name = source_ + "/" + member_;
  limits_.require(static_cast<double>(expected_), name);
  Blob contents;
  std::array<std::byte, std::size_t{1} << 16> buffer;
  for (;;) {
    const auto got = archive_read_data(handle_.get(), buffer.data(), buffer.size());
    if (got < 0) packed_->fail_reading(handle_.get(), name);
    if (got == 0) return contents;
    contents.insert(contents.end(), buffer.begin(), buffer.begin() + got);
  }
}

std::vector<std::string> list_members(const fs::path& path) {
  std::vector<std::string> names;
  for (Archive archive(path); archive.next();) names.push_back(archive.member());
  return names;
}

}  // namespace widelimit
