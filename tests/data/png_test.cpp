#include "widelimit/data/formats/images/png.hpp"

#include "fixture.hpp"
#include "written_png.hpp"

namespace widelimit {
namespace {

Picture decode(const std::string& file, Index most_pixels = 1 << 16) {
  return decode_png(as_bytes(file), "test", most_pixels);
}

TEST(Png, ValuesComeBack) {
  const std::vector<std::uint8_t> grey{0, 1, 2, 253, 254, 255};
  const Picture picture = decode(written_png(3, 2, PNG_COLOR_TYPE_GRAY, 8, grey));
  EXPECT_EQ(picture.width, 3);
  EXPECT_EQ(picture.height, 2);
  EXPECT_EQ(picture.channels, 1);
  EXPECT_FALSE(picture.transparent);
  EXPECT_EQ(picture.values, (std::vector<float>{0, 1, 2, 253, 254, 255}));

  const Picture colour = decode(written_png(1, 2, PNG_COLOR_TYPE_RGB, 8, grey));
  EXPECT_EQ(colour.channels, 3);
  EXPECT_EQ(colour.values, (std::vector<float>{0, 1, 2, 253, 254, 255}));
}

TEST(Png, SixteenBitsKeepTheirPrecision) {
  // 65535 = 257 · 255, and 1 is the smallest step.
  const Picture picture = decode(written_png(3, 1, PNG_COLOR_TYPE_GRAY, 16, {0xFF, 0xFF, 0, 1, 1, 1}));
  EXPECT_EQ(picture.values, (std::vector<float>{255, 1.0F / 257, 1}));
}

TEST(Png, FewerBitsSpanTheSameRange) {
  const Picture picture = decode(written_png(4, 1, PNG_COLOR_TYPE_GRAY, 2, {0b00011011}));
  EXPECT_EQ(picture.values, (std::vector<float>{0, 85, 170, 255}));
}

TEST(Png, TransparencyIsDroppedAndTold) {
  const Picture picture = decode(written_png(1, 1, PNG_COLOR_TYPE_RGB_ALPHA, 8, {10, 20, 30, 0}));
  EXPECT_TRUE(picture.transparent);
  EXPECT_EQ(picture.values, (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(decode(written_png(1, 1, PNG_COLOR_TYPE_GRAY_ALPHA, 8, {10, 0})).channels, 1);
}

TEST(Png, PalettesAndInterlacingAreRead) {
  const Picture palette = decode(written_png(2, 1, PNG_COLOR_TYPE_PALETTE, 8, {1, 0}));
  EXPECT_EQ(palette.values, (std::vector<float>{4, 5, 6, 1, 2, 3}));
  std::vector<std::uint8_t> ramp(81);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<std::uint8_t>(3 * i);
  const Picture interlaced = decode(written_png(9, 9, PNG_COLOR_TYPE_GRAY, 8, ramp, PNG_INTERLACE_ADAM7));
  EXPECT_TRUE(std::equal(ramp.begin(), ramp.end(), interlaced.values.begin(), interlaced.values.end()));
}

TEST(Png, DamageIsAnError) {
  const std::string good = written_png(16, 16, PNG_COLOR_TYPE_GRAY, 8, std::vector<std::uint8_t>(256, 7));
  for (std::size_t length = 0; length < good.size(); ++length) {
    expect_error(Code::input, {"test", "PNG"}, [&] { (void)decode(good.substr(0, length)); });
  }
  // Changes a byte of the header or of the pixels: the checksums do not match.
  for (const std::size_t place : {std::size_t{19}, std::size_t{45}}) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 0x10);
    expect_error(Code::input, {"test"}, [&] { (void)decode(bad); });
  }
}

TEST(Png, DeclaredSizesAreComparedFirst) {
  const std::string good = written_png(16, 16, PNG_COLOR_TYPE_GRAY, 8, std::vector<std::uint8_t>(256, 7));
  expect_error(Code::input, {"16 x 16"}, [&] { (void)decode(good, 255); });
  const std::size_t allowed = 1000;
  expect_error(Code::resource, {"test"}, [&] {
    (void)decode_png(as_bytes(good), "test", 1 << 16, {allowed, nullptr});
  });
}

}  // namespace
}  // namespace widelimit
