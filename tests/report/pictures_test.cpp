#include "widelimit/report/drawing/pictures.hpp"

#include "tests/paths.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/process.hpp"
#include "widelimit/report/file.hpp"
#include "widelimit/report/html.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace widelimit {
namespace {

TEST(Base64, AsTheStandardSays) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Png, OfOnePixelHasTheChecksThatAreKnown) {
  const std::vector<std::uint8_t> black{0};
  const std::string file = png(black, 1, 1, 1);
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  // The CRC of IHDR for 1 × 1, 8 bits, grey is 3a7e9b55; that of IEND is always ae426082.
  EXPECT_NE(file.find("\x3a\x7e\x9b\x55"), std::string::npos);
  EXPECT_EQ(file.substr(file.size() - 4), "\xae\x42\x60\x82");
}

TEST(Png, RefusesOtherSizes) {
  const std::vector<std::uint8_t> three{1, 2, 3};
  EXPECT_NO_THROW((void)png(three, 1, 1, 3));
  EXPECT_THROW((void)png(three, 2, 1, 1), Error);
  EXPECT_THROW((void)png(three, 3, 1, 2), Error);
  EXPECT_THROW((void)png(three, 0, 0, 1), Error);
  EXPECT_THROW((void)png({}, 1, -1, 1), Error);
}

TEST(Pictures, AreThoseOfImagesAndSquares) {
  EXPECT_EQ(picture_shape({28, 28, 1}), (Shape{28, 28, 1}));
  EXPECT_EQ(picture_shape({32, 16, 3}), (Shape{32, 16, 3}));
  EXPECT_EQ(picture_shape({1, 1, 64}), (Shape{8, 8, 1}));
  EXPECT_FALSE(picture_shape({1, 1, 63}));
  EXPECT_FALSE(picture_shape({1, 1, 1}));
  EXPECT_FALSE(picture_shape({4, 4, 2}));
  EXPECT_FALSE(picture_shape({2000, 4, 1}));
}

TEST(Pictures, SheetEscapesWordsAndChecksSizes) {
  const std::vector<Pictured> samples{{.words = "<a> & b", .pictures = {{0, 1, 2, 3}, {3, 2, 1, 0}}}};
  const Figure sheet = picture_sheet(samples, {2, 2, 1}, 0, 3, "A & B");
  EXPECT_NE(sheet.svg.find("&lt;a&gt; &amp; b"), std::string::npos);
  EXPECT_EQ(sheet.svg.find("<a>"), std::string::npos);
  EXPECT_THROW((void)picture_sheet(samples, {3, 2, 1}, 0, 3, ""), Error);
}

TEST(Pictures, LabelsDoNotOverlap) {
  const auto width = [](const std::string& words) {
    const std::vector<Pictured> samples(2, {.words = words, .pictures = {{0, 1, 2, 3}}});
    const std::string svg = picture_sheet(samples, {2, 2, 1}, 0, 3, "").svg;
    return std::stoi(svg.substr(svg.find("width=\"") + 7));
  };
  EXPECT_EQ(width("frog"), width("a frog"));  // narrower than the pictures
  EXPECT_GT(width("automobile: airplane"), width("frog") + 50);
  EXPECT_EQ(width(std::string(40, 'w')), width(std::string(60, 'w')));  // both are truncated
}

// Two stored blocks, decoded by an independent decoder.
TEST(Png, LargeOnesAreReadByZlib) {
  std::vector<std::uint8_t> pixels(150 * 151 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 % 251);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "p.png", std::ios::binary) << png(pixels, 150, 151, 3);
  const std::string program =
      "import struct, zlib\n"
      "b = open('p.png', 'rb').read()[8:]\n"
      "data = b''\n"
      "while b:\n"
      "    n, t = struct.unpack('>I4s', b[:8])\n"
      "    assert zlib.crc32(b[4:8 + n]) == struct.unpack('>I', b[8 + n:12 + n])[0]\n"
      "    data, b = data + (b[8:8 + n] if t == b'IDAT' else b''), b[12 + n:]\n"
      "rows = zlib.decompress(data)\n"
      "assert len(rows) == 151 * 451\n"
      "assert all(rows[y * 451 + 1 + x] == (y * 450 + x) * 7 % 251 for y in range(151) for x in range(450))\n";
  const ProgramEnd ending = run_program({"python3", "-c", program}, folder.path());
  if (!ending.found) GTEST_SKIP() << "no python3";
  EXPECT_TRUE(ending.succeeded()) << ending.output;
}

TEST(Pictures, OpenInChromium) {
  std::vector<Pictured> samples;
  for (int k = 0; k < 7; ++k) {
    const std::vector<double> flat(64, 0.1 * k);
    samples.push_back({.words = "sample", .pictures = {flat, flat}});
  }
  Page page("Pictures", "Seven.");
  page.section("All").figure({.figure = picture_sheet(samples, {8, 8, 1}, 0, 1, "Grey ones")});
  const TemporaryFolder folder;
  page.write(folder.path() / "page.html");
  const ProgramEnd ending = run_program(
      {"python3", test::open_page_script(), (folder.path() / "page.html").string(), "--figures", "1"}, folder.path());
  if (!ending.found || ending.status == 77) GTEST_SKIP() << "python3 or chromium is absent: " << ending.output;
  EXPECT_TRUE(ending.succeeded()) << ending.output;
}

}  // namespace
}  // namespace widelimit
