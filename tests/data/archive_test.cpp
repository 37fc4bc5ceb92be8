#include "widelimit/data/archive.hpp"

#include "fixture.hpp"

#include <archive.h>
#include <archive_entry.h>

namespace widelimit {
namespace {

/// A gz or xz stream of `text`, or a tar of it with members "a/one" and "two".
std::string packed(const std::string& text, int filter, bool tar) {
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

Blob blob(const std::string& text) {
  const Bytes bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

class Archives : public Folder {};

TEST_F(Archives, StreamsAreKnownByTheirFirstBytes) {
  const std::string text(100000, 'x');
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_NONE}) {
    EXPECT_EQ(as_text(decompress(blob(packed(text, filter, false)), "test")), text);
  }
  EXPECT_TRUE(decompress({}, "test").empty());
}

TEST_F(Archives, CutStreamsAreErrors) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i * i);
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ}) {
    const std::string whole = packed(text, filter, false);
    expect_error(Code::input, {"test"}, [&] { (void)decompress(blob(whole.substr(0, whole.size() / 2)), "test"); });
  }
}

TEST_F(Archives, MembersAreListedAndRead) {
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_NONE}) {
    const auto file = put("a.tar", packed("contents", filter, true));
    EXPECT_EQ(list_members(file), (std::vector<std::string>{"a/one", "two"}));
    EXPECT_EQ(as_text(read_member(file, "two")), "contents");
    expect_error(Code::input, {"three"}, [&] { (void)read_member(file, "three"); });
  }
  expect_error(Code::input, {"absent"}, [&] { (void)list_members(path("absent")); });
  const auto bad = put("bad", "this is no archive");
  expect_error(Code::input, {"bad"}, [&] { (void)list_members(bad); });
}

}  // namespace
}  // namespace widelimit
