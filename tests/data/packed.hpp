#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <vector>

namespace widelimit {

/// Writes an archive with libarchive whose members, of these names, all hold `text`; `set_format(archive*)` chooses
/// format and compression.
template <typename SetFormat>
std::string archived(const std::string& text, const std::vector<const char*>& names, const SetFormat& set_format) {
  std::string out(text.size() * (names.size() + 1) + 100000, '\0');
  std::size_t used = 0;
  archive* handle = archive_write_new();
  set_format(handle);
  archive_write_open_memory(handle, out.data(), out.size(), &used);
  for (const char* name : names) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    archive_write_header(handle, entry);
    archive_write_data(handle, text.data(), text.size());
    archive_entry_free(entry);
  }
  archive_write_close(handle);
  archive_write_free(handle);
  out.resize(used);
  return out;
}

/// Compresses `text` as a stream, or as a tar with members "a/one" and "two".
inline std::string packed_stream(const std::string& text, int filter) {
  return archived(text, {"one"}, [&](archive* handle) {
    archive_write_add_filter(handle, filter);
    archive_write_set_format_raw(handle);
  });
}
inline std::string packed_tar(const std::string& text, int filter) {
  return archived(text, {"a/one", "two"}, [&](archive* handle) {
    archive_write_add_filter(handle, filter);
    archive_write_set_format_pax_restricted(handle);
  });
}

}  // namespace widelimit
