#include "widelimit/data/formats/zip.hpp"

#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/npz.hpp"

#include "fixture.hpp"
#include "packed.hpp"

namespace widelimit {
namespace {

/// Returns a zip by libarchive with members "one" and "two", both `text`.
std::string zipped(const std::string& text, bool deflated) {
  return archived(text, {"one", "two"}, [&](archive* handle) {
    archive_write_set_format_zip(handle);
    deflated ? archive_write_zip_set_compression_deflate(handle) : archive_write_zip_set_compression_store(handle);
    archive_write_set_bytes_in_last_block(handle, 1);
  });
}

std::string contents(const ZipFile& zip, const ReadLimits& limits = {}) {
  std::string all;
  for (const auto& member : zip.members()) {
    all += member.name + "=" + std::string(as_text(zip.read(member, limits))) + ";";
  }
  return all;
}

std::string contents(const std::string& bytes) { return contents(ZipFile(as_bytes(bytes), "zip")); }

class Zips : public Folder {};

TEST_F(Zips, MembersAreListedAndRead) {
  for (const bool deflated : {false, true}) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{9}, std::size_t{1} << 18, std::size_t{1000003}}) {
      const std::string text(length, 'x');
      const std::string bytes = zipped(text, deflated);
      EXPECT_EQ(contents(bytes), "one=" + text + ";two=" + text + ";");
      EXPECT_EQ(contents(ZipFile(put("a.zip", bytes))), contents(bytes));
    }
  }
  expect_error(Code::input, {"absent", "No such file"}, [&] { (void)ZipFile(path("absent")); });
}

TEST_F(Zips, AFlippedBitIsAnErrorOrChangesNothing) {
  for (const bool deflated : {false, true}) {
    const std::string whole = zipped("0123456789 0123456789 0123456789", deflated);
    const std::string expected = contents(whole);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      try {
        EXPECT_EQ(contents(flipped), expected) << "bit " << bit;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::input) << error.what();
      }
    }
  }
}

TEST_F(Zips, CutAndLengthenedOnesAreErrors) {
  for (const bool deflated : {false, true}) {
    const std::string whole = zipped("contents", deflated);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      expect_error(Code::input, {"zip"}, [&] { (void)contents(whole.substr(0, length)); });
    }
    expect_error(Code::input, {"zip"}, [&] { (void)contents(whole + "more"); });
    expect_error(Code::input, {"zip"}, [&] { (void)contents("more" + whole); });
  }
}

TEST_F(Zips, NothingGrowsBeyondTheMemoryItMayTake) {
  const std::string bytes = zipped(std::string(std::size_t{16} << 20, '\0'), true);
  ASSERT_LT(bytes.size(), std::size_t{1} << 17);
  const ZipFile zip(as_bytes(bytes), "zip");
  expect_error(Code::resource, {"zip/one needs about 16 MiB", "the limit is 1 MiB"},
               [&] { (void)contents(zip, {.memory = std::size_t{1} << 20}); });
}

/// A size beyond the expansion of deflate is rejected before memory is allocated.
TEST_F(Zips, AnImpossibleSizeIsAnError) {
  std::string bytes = zipped("contents", true);
  const std::size_t line = bytes.find("PK\x01\x02");
  ASSERT_NE(line, std::string::npos);
  bytes.replace(line + 24, 4, "\xff\xff\xff\x7f");
  expect_error(Code::input, {"zip"}, [&] { (void)contents(bytes); });
}

/// The file of a Gram matrix has only one array beside the labels.
TEST_F(Zips, AGramMatrixIsNotTakenForSamples) {
  const Matrix<double> k(2, 2);
  write_npz(path("k.npz"), {{"ntk", k.view(), {}}}, "{}");
  write_npz(path("s.npz"), {{"pixels", k.view(), {}}}, "{}");
  expect_error(Code::input, {"'ntk' is a kernel", "(x=ntk)"}, [&] { (void)parse_npz(read_file(path("k.npz"))); });
  EXPECT_EQ(parse_npz(read_file(path("s.npz"))).count(), 2);
}

/// Samples, labels and names as written by NumPy and by write_npz.
TEST_F(Zips, AFlippedByteOfAnNpzIsAnErrorOrTheSameSamples) {
  const Matrix<double> x = [] {
    Matrix<double> m(3, 2);
    for (Index i = 0; i < 6; ++i) m.data()[i] = 0.5 * static_cast<double>(i);
    return m;
  }();
  const std::vector<std::int64_t> y{0, 1, 1};
  write_npz(path("a.npz"), {{"x", x.view(), {}}, {"y", MatrixView<const std::int64_t>{y.data(), 3, 1, 1}, {3}}}, "{}");
  const Blob whole = read_file(path("a.npz"));
  for (std::size_t k = 0; k < whole.size(); ++k) {
    Blob flipped = whole;
    flipped[k] ^= static_cast<std::byte>(1U << (k % 8));
    try {
      const Dataset data = parse_npz(flipped);
      EXPECT_EQ(data.labels, (std::vector<Index>{0, 1, 1})) << "byte " << k;
      for (Index i = 0; i < 6; ++i) EXPECT_EQ(value(data, i / 2, i % 2), x.data()[i]) << "byte " << k;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input) << error.what();
    }
  }
}

}  // namespace
}  // namespace widelimit
