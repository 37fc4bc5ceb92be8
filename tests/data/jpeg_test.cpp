#include "widelimit/data/formats/images/jpeg.hpp"

#include "fixture.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace widelimit {
namespace {

/// Returns a JPEG of one colour, or its grey value.
std::string encode(unsigned width, unsigned height, std::uint8_t red, std::uint8_t green, std::uint8_t blue,
                   bool grey = false) {
  jpeg_compress_struct state{};
  jpeg_error_mgr errors{};
  state.err = jpeg_std_error(&errors);
  jpeg_create_compress(&state);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&state, &memory, &size);
  state.image_width = width;
  state.image_height = height;
  state.input_components = 3;
  state.in_color_space = JCS_RGB;
  jpeg_set_defaults(&state);
  if (grey) jpeg_set_colorspace(&state, JCS_GRAYSCALE);
  jpeg_set_quality(&state, 100, TRUE);
  jpeg_start_compress(&state, TRUE);
  const std::uint8_t colour[] = {red, green, blue};
  std::vector<std::uint8_t> line(3 * width);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = colour[i % 3];
  JSAMPROW row = line.data();
  for (unsigned y = 0; y < height; ++y) jpeg_write_scanlines(&state, &row, 1);
  jpeg_finish_compress(&state);
  jpeg_destroy_compress(&state);
  std::string text(reinterpret_cast<char*>(memory), size);
  std::free(memory);
  return text;
}

TEST(Jpeg, OneColourComesBack) {
  const Image image = decode_jpeg(as_bytes(encode(5, 3, 200, 100, 50)), "test");
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.height, 3);
  ASSERT_EQ(image.rgb.size(), 45U);
  for (std::size_t i = 0; i < 45; i += 3) {
    EXPECT_NEAR(image.rgb[i], 200, 2);
    EXPECT_NEAR(image.rgb[i + 1], 100, 2);
    EXPECT_NEAR(image.rgb[i + 2], 50, 2);
  }
}

using JpegFolder = Folder;

TEST_F(JpegFolder, GreyAndColoursOfAFolder) {
  put("grey/1.jpg", encode(4, 2, 90, 90, 90, true));
  const Dataset grey = load_data(path("grey").string());
  EXPECT_EQ(grey.shape, (Shape{2, 4, 1}));
  EXPECT_NEAR(value(grey, 0, 7), 90, 2);
  put("colour/a/1.JPEG", encode(4, 2, 200, 100, 50));
  const Dataset colour = load_data(path("colour").string());
  EXPECT_EQ(colour.shape, (Shape{2, 4, 3}));
  EXPECT_NEAR(value(colour, 0, 22), 100, 2);
}

TEST(Jpeg, DamageIsAnError) {
  const std::string good = encode(16, 16, 1, 2, 3);
  for (std::size_t length = 0; length + 2 < good.size(); length += 3) {
    expect_error(Code::input, {"test"}, [&] { (void)decode_jpeg(as_bytes(good.substr(0, length)), "test"); });
  }
  expect_error(Code::input, {"16 x 16"}, [&] { (void)decode_jpeg(as_bytes(good), "test", 255); });
  const std::size_t allowed = 1000;
  expect_error(Code::resource, {"test"}, [&] {
    (void)decode_jpeg(as_bytes(good), "test", 1 << 16, {allowed, nullptr});
  });
}

}  // namespace
}  // namespace widelimit
