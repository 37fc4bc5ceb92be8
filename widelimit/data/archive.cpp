#include "widelimit/data/archive.hpp"

#include "widelimit/base/error.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <new>
#include <system_error>
#include <utility>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

/// Deflate expands at most 1032-fold and xz, on real data, far less than 10000-fold.
constexpr std::size_t archive_expansion = 10000;
constexpr std::size_t archive_allowance = std::size_t{1} << 16;
constexpr std::size_t block = std::size_t{1} << 16;

std::size_t expansion_limit(std::size_t compressed) {
  return compressed > SIZE_MAX / archive_expansion - archive_allowance
             ? SIZE_MAX
             : archive_allowance + archive_expansion * compressed;
}

[[noreturn]] void fail_reading(archive* handle, const std::string& source) {
  const char* reason = archive_error_string(handle);
  fail(Code::input, "{}: not a readable archive ({}); the file may be damaged", source,
       reason != nullptr ? reason : "no reason given");
}

Blob read_contents(archive* handle, std::size_t limit, std::size_t expected, const std::string& source) {
  try {
    Blob contents;
    contents.reserve(std::min(limit, expected));
    std::array<std::byte, block> buffer;
    for (;;) {
      const auto got = archive_read_data(handle, buffer.data(), buffer.size());
      if (got < 0) fail_reading(handle, source);
      if (got == 0) return contents;
      contents.insert(contents.end(), buffer.begin(), buffer.begin() + got);
      if (contents.size() > limit) fail(Code::input, "{}: expands without end; the file is damaged", source);
    }
  } catch (const std::bad_alloc&) {
    fail(Code::resource, "{}: its contents do not fit in memory", source);
  }
}

bool starts_with(Bytes bytes, std::string_view magic) { return as_text(bytes).starts_with(magic); }

}  // namespace

void Archive::Close::operator()(archive* handle) const noexcept { archive_read_free(handle); }

Archive::Archive(const fs::path& path) : source_(path.string()), handle_(archive_read_new()) {
  archive_read_support_filter_gzip(handle_.get());
  archive_read_support_filter_xz(handle_.get());
  archive_read_support_format_tar(handle_.get());
  archive_read_support_format_zip_seekable(handle_.get());  // by its directory: a cut file is no zip
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  if (missing) fail(Code::input, "cannot open '{}': {}", source_, missing.message());
  limit_ = expansion_limit(size);
  if (archive_read_open_filename(handle_.get(), path.c_str(), block) != ARCHIVE_OK) {
    fail_reading(handle_.get(), source_);
  }
}

Archive::Archive(Bytes bytes, std::string source)
    : source_(std::move(source)), handle_(archive_read_new()), limit_(expansion_limit(bytes.size())) {
  archive_read_support_filter_gzip(handle_.get());
  archive_read_support_format_tar(handle_.get());
  archive_read_support_format_zip_seekable(handle_.get());  // by its directory: a cut file is no zip
  if (archive_read_open_memory(handle_.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    fail_reading(handle_.get(), source_);
  }
}

bool Archive::next() {
  archive_entry* entry = nullptr;
  for (;;) {
    const int outcome = archive_read_next_header(handle_.get(), &entry);
    if (outcome == ARCHIVE_EOF) return false;
    if (outcome != ARCHIVE_OK && outcome != ARCHIVE_WARN) fail_reading(handle_.get(), source_);
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    member_ = name != nullptr ? name : "";
    expected_ = static_cast<std::size_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    return true;
  }
}

Blob Archive::read() { return read_contents(handle_.get(), limit_, expected_, source_ + "/" + member_); }

std::vector<std::string> list_members(const fs::path& path) {
  std::vector<std::string> names;
  for (Archive archive(path); archive.next();) names.push_back(archive.member());
  return names;
}

Blob read_member(const fs::path& path, const std::string& member) {
  for (Archive archive(path); archive.next();) {
    if (archive.member() == member) return archive.read();
  }
  fail(Code::input, "'{}' has no member '{}'", path.string(), member);
}

Blob decompress(Blob bytes, const std::string& source) {
  const bool gzip = starts_with(bytes, "\x1f\x8b");
  const bool xz = starts_with(bytes, std::string_view("\xfd"
                                                      "7zXZ\0",
                                                      6));
  if (!gzip && !xz) return bytes;
  const std::unique_ptr<archive, decltype(&archive_read_free)> handle(archive_read_new(), &archive_read_free);
  gzip ? archive_read_support_filter_gzip(handle.get()) : archive_read_support_filter_xz(handle.get());
  archive_read_support_format_raw(handle.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    fail_reading(handle.get(), source);
  }
  const int outcome = archive_read_next_header(handle.get(), &entry);
  if (outcome == ARCHIVE_EOF) return {};
  if (outcome != ARCHIVE_OK) fail_reading(handle.get(), source);
  return read_contents(handle.get(), expansion_limit(bytes.size()), 4 * bytes.size(), source);
}

}  // namespace widelimit
