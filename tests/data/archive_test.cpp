#include "widelimit/data/formats/archive.hpp"

#include "fixture.hpp"
#include "packed.hpp"

namespace widelimit {
namespace {

class Archives : public Folder {};

TEST_F(Archives, MembersAreListedAndRead) {
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_NONE}) {
    const auto file = put("a.tar", packed_tar("contents", filter));
    EXPECT_EQ(list_members(file), (std::vector<std::string>{"a/one", "two"}));
    for (Archive archive(file); archive.next();) EXPECT_EQ(as_text(archive.read()), "contents");
  }
  expect_error(Code::input, {"absent"}, [&] { (void)list_members(path("absent")); });
  const auto bad = put("bad", "this is no archive");
  expect_error(Code::input, {"bad"}, [&] { (void)list_members(bad); });
}

/// Returns all members of an archive, as "name=contents;".
std::string contents_of(const std::filesystem::path& file) {
  std::string all;
  for (Archive archive(file); archive.next();)
    all += archive.member() + "=" + std::string(as_text(archive.read())) + ";";
  return all;
}

TEST_F(Archives, AFlippedByteOfAPackedOneIsAnErrorOrChangesNothing) {
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ}) {
    const std::string whole = packed_tar("contents", filter);
    const std::string expected = contents_of(put("whole", whole));
    for (std::size_t k = 0; k < whole.size(); ++k) {
      std::string flipped = whole;
      flipped[k] = static_cast<char>(flipped[k] ^ (1 << (k % 8)));
      try {
        EXPECT_EQ(contents_of(put("flipped", flipped)), expected) << "byte " << k;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::input) << error.what();
      }
    }
  }
}

TEST_F(Archives, CutOnesAreErrorsAndLargeMembersToo) {
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ}) {
    const std::string whole = packed_tar(std::string(5000, 'x'), filter);
    for (std::size_t length = 1; length < whole.size(); length += 3) {
      expect_error(Code::input, {}, [&] { (void)contents_of(put("cut", whole.substr(0, length))); });
    }
    const auto file = put("whole", whole);
    expect_error(Code::resource, {"needs about", "the limit is 4 KiB"}, [&] {
      Archive archive(file, {.memory = std::size_t{1} << 12});
      while (archive.next()) (void)archive.read();
    });
  }
}

}  // namespace
}  // namespace widelimit
