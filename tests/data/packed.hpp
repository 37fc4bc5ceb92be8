#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>

namespace widelimit {

/// Compresses `text` with libarchive: as a stream, or as a tar with members "a/one" and "two".
inline std::string packed(const std::string& text, int filter, bool tar) {
  std::string out(text.size() * 2 + 100000, '\0');
  std::size_t used = 0;
  archive* handle = archive_write_new();
  archive_write_add_filter(handle, filter);
  tar ? archive_write_set_format_pax_restricted(handle) : archive_write_set_format_raw(handle);
  archive_write_open_memory(handle, out.data(), out.size(), &used);
  for (const char* name : {"a/one", "two"}) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    archive_write_header(handle, entry);
    archive_write_data(handle, text.data(), text.size());
    archive_entry_free(entry);
    if (!tar) break;
  }
  archive_write_close(handle);
  archive_write_free(handle);
  out.resize(used);
  return out;
}

inline std::string packed_stream(const std::string& text, int filter) { return packed(text, filter, false); }
inline std::string packed_tar(const std::string& text, int filter) { return packed(text, filter, true); }

}  // namespace widelimit
