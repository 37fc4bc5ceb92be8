#include "widelimit/data/formats/byte_stream.hpp"

#include "fixture.hpp"
#include "packed.hpp"

#include <sys/stat.h>

namespace widelimit {
namespace {

constexpr int packings[] = {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ};

/// Compressible data that does not compress to almost nothing.
std::string squares(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * i);
  return text;
}

std::string unpacked(const std::string& packed_bytes, const ReadLimits& limits = {}) {
  return std::string(as_text(unpack(as_bytes(packed_bytes), "test", limits)));
}

class ByteStreams : public Folder {};

TEST_F(ByteStreams, PackingIsKnownByTheFirstBytes) {
  // Lengths above and equal to the piece size of streams.
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 18, std::size_t{1000001}}) {
    const std::string text(length, 'x');
    for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_NONE}) {
      const std::string bytes = filter == ARCHIVE_FILTER_NONE ? text : packed_stream(text, filter);
      EXPECT_EQ(unpacked(bytes), text);
      EXPECT_EQ(as_text(read_unpacked(put("file", bytes))), text);
    }
  }
}

TEST_F(ByteStreams, SeveralStreamsAfterEachOtherAreOne) {
  for (const int filter : packings) {
    EXPECT_EQ(unpacked(packed_stream("one,", filter) + packed_stream("two", filter)), "one,two");
  }
}

TEST_F(ByteStreams, CutStreamsAndBytesAfterTheEndAreErrors) {
  for (const int filter : packings) {
    const std::string whole = packed_stream(squares(300), filter);
    // Below six bytes the signature is incomplete.
    for (std::size_t length = 6; length < whole.size(); ++length) {
      expect_error(Code::input, {"test"}, [&] { (void)unpacked(whole.substr(0, length)); });
    }
    expect_error(Code::input, {"test"}, [&] { (void)unpacked(whole + "more"); });
    const std::string cut_second = whole + whole.substr(0, whole.size() / 2);
    expect_error(Code::input, {"test"}, [&] { (void)unpacked(cut_second); });
  }
}

/// Some bytes of a gz header (time, system) do not affect the contents; no other change may go undetected. After a
/// bit flip in the signature, the bytes are passed through as if uncompressed, and their reader then rejects them.
TEST_F(ByteStreams, AFlippedBitIsAnErrorOrChangesNothing) {
  for (const int filter : packings) {
    const std::string text = squares(100);
    const std::string whole = packed_stream(text, filter);
    int errors = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      try {
        const std::string found = unpacked(flipped);
        EXPECT_TRUE(found == text || found == flipped) << "bit " << bit;
      } catch (const Error& error) {
        // A flipped dictionary size of xz may exceed the available memory.
        EXPECT_TRUE(error.code() == Code::input || error.code() == Code::resource) << error.what();
        ++errors;
      }
    }
    EXPECT_GT(errors, static_cast<int>(8 * (whole.size() - 20)));
  }
}

TEST_F(ByteStreams, NothingGrowsBeyondTheMemoryItMayTake) {
  const std::string text(std::size_t{64} << 20, '\0');
  for (const int filter : packings) {
    const std::string bomb = packed_stream(text, filter);
    ASSERT_LT(bomb.size(), text.size() / 500);
    expect_error(Code::resource, {"reading test needs about", "the limit is 1 MiB"},
                 [&] { (void)unpacked(bomb, {.memory = std::size_t{1} << 20}); });
    EXPECT_EQ(unpacked(bomb, {.memory = std::size_t{200} << 20}).size(), text.size());
  }
}

/// The length at the end of a gz member is only a hint: it differs for several members or damaged files.
TEST_F(ByteStreams, AWrongLengthIsNotAllocated) {
  std::string whole = packed_stream("x", ARCHIVE_FILTER_GZIP);
  whole.replace(whole.size() - 4, 4, "\xff\xff\xff\x7f");
  expect_error(Code::input, {"length"}, [&] { (void)unpacked(whole, {.memory = std::size_t{1} << 20}); });
}

/// Stops at the first update.
class Stop final : public Progress {
 public:
  bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
};

TEST_F(ByteStreams, ReadingStopsWhenItIsAskedTo) {
  Stop stop;
  const auto file = put("file", std::string(1000, 'x'));
  expect_error(Code::interrupted, {}, [&] { (void)read_file(file, {.progress = &stop}); });
}

TEST_F(ByteStreams, WhatIsNoFileIsToldInTheWordsOfTheSystem) {
  expect_error(Code::input, {"absent", "No such file"}, [&] { (void)read_file(path("absent")); });
  expect_error(Code::input, {"not a regular file"}, [&] { (void)read_file(path("")); });
  // The pipe has no writer: opening must not block.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error(Code::input, {"pipe", "not a regular file"}, [&] { (void)read_file(path("pipe")); });
}

}  // namespace
}  // namespace widelimit
