#include "widelimit/data/formats/images/png.hpp"

#include "widelimit/base/error.hpp"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>

namespace widelimit {

namespace {

/// libpng requires that its error callback does not return, and exceptions must not pass through C frames; hence
/// longjmp.
struct Reader {
  explicit Reader(Bytes bytes) : rest(bytes) {}
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes rest;
  bool transparent = false;
  std::jmp_buf back{};
  char message[160] = {};
};

void escape(png_structp png, png_const_charp message) {
  auto* const reader = static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(reader->message, message, sizeof(reader->message) - 1);
  std::longjmp(reader->back, 1);
}

void stay_silent(png_structp, png_const_charp) {}

void read_chunk(png_structp png, png_bytep into, std::size_t count) {
  auto* const reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->rest.size()) png_error(png, "the file ends too early");
  std::memcpy(into, reader->rest.data(), count);
  reader->rest = reader->rest.subspan(count);
}

/// The next two functions must not have locals with destructors, since longjmp skips them. They return false after an
/// error. After read_header, rows are 8 or 16 bit, grey or colour, without alpha.
bool read_header(Reader& reader) {
  if (setjmp(reader.back) != 0) return false;
  png_read_info(reader.png, reader.info);
  const int colours = png_get_color_type(reader.png, reader.info);
  reader.transparent =
      (colours & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) != 0;
  if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if (colours == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_rows(Reader& reader, png_bytep* rows) {
  if (setjmp(reader.back) != 0) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

[[noreturn]] void fail_unreadable(const std::string& source, const char* reason) {
  fail(Code::input, "{}: not a readable PNG ({})", source, reason);
}

/// Converts to float; 16-bit values are big-endian and scaled so that 65535 becomes 255.
std::vector<float> values_of(const std::vector<png_byte>& bytes, bool wide) {
  std::vector<float> values(bytes.size() / (wide ? 2 : 1));
  if (!wide) {
    std::copy(bytes.begin(), bytes.end(), values.begin());
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(256 * bytes[2 * i] + bytes[2 * i + 1]) / 257.0F;
  }
  return values;
}

}  // namespace

Picture decode_png(Bytes bytes, const std::string& source, Index most_pixels, const ReadLimits& limits) {
  Reader reader(bytes);
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, escape, stay_silent);
  if (reader.png == nullptr) throw std::bad_alloc();
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) throw std::bad_alloc();
  png_set_read_fn(reader.png, &reader, read_chunk);
  if (!read_header(reader)) fail_unreadable(source, reader.message);

  Picture picture;
  picture.height = static_cast<Index>(png_get_image_height(reader.png, reader.info));
  picture.width = static_cast<Index>(png_get_image_width(reader.png, reader.info));
  picture.channels = png_get_channels(reader.png, reader.info);
  const Index pixels = picture.height * picture.width;
  if (pixels > most_pixels) {
    fail_unreadable(source, fmt::format("{} x {} pixels are too many", picture.width, picture.height).c_str());
  }
  const std::size_t stride = png_get_rowbytes(reader.png, reader.info);
  const double packed = static_cast<double>(stride) * static_cast<double>(picture.height);
  limits.require(packed + sizeof(float) * static_cast<double>(pixels * picture.channels), source);

  std::vector<png_byte> content(stride * usize(picture.height));
  std::vector<png_bytep> rows;
  for (std::size_t i = 0; i < usize(picture.height); ++i) rows.push_back(content.data() + i * stride);
  if (!read_rows(reader, rows.data())) fail_unreadable(source, reader.message);
  picture.transparent = reader.transparent;
  picture.values = values_of(content, png_get_bit_depth(reader.png, reader.info) == 16);
  return picture;
}

}  // namespace widelimit
